#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "teeny/teeny.hpp"

/// What every example does to trust its own numbers: fresh random input, outputs poisoned before
/// the launch, and a relative error against a reference computed in double precision.
namespace example {

/// Seed of this run: the second command-line word "seed=N", else the clock; printed, so that a
/// failure can be repeated.
inline std::uint64_t seed_of(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.rfind("seed=", 0) == 0) return std::stoull(argument.substr(5));
  }
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

/// Uniform values in [-1, 1), rounded to T.
template <class T>
std::vector<T> uniform(std::size_t count, std::mt19937_64& generator) {
  std::uniform_real_distribution<double> distribution(-1.0, 1.0);
  std::vector<T> values(count);
  for (T& value : values) value = T(distribution(generator));
  return values;
}

/// A buffer whose every byte is 0xff (NaN in each float format): what a kernel forgets to write
/// shows.
template <class T>
teeny::Buffer<T> poisoned(teeny::Device& device, std::size_t count) {
  teeny::Buffer<T> buffer = device.buffer<T>(count);
  buffer.fill_bytes(0xff);
  return buffer;
}

/// Largest |got - want| / max(|want|, floor); infinity when anything is not finite. `floor` is the
/// size below which an error counts as absolute (the natural scale of the sum that was computed).
template <class T>
double relative_error(const std::vector<T>& got, const std::vector<double>& want, double floor) {
  double worst = got.size() == want.size() ? 0.0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double value = static_cast<double>(got[i]);
    const double error = std::abs(value - want[i]) / std::max(std::abs(want[i]), floor);
    worst = error <= worst ? worst : error;
    if (!(error <= HUGE_VAL)) worst = HUGE_VAL;
  }
  return worst;
}

/// Prints one verdict line; returns whether the error is within the bound.
inline bool verdict(const char* what, double error, double bound) {
  const bool good = error <= bound;
  std::printf("%-44s relative error %.2e (bound %.0e) %s\n", what, error, bound,
              good ? "ok" : "WRONG");
  return good;
}

}  // namespace example

// Softmax over the rows of a matrix: a row is one tile, so its maximum and its sum never leave the
// multiprocessor.

#include "../common/check.hpp"

#include "teeny/teeny.hpp"

using namespace teeny;

/// out[r, :] = exp(x[r, :] - max) / sum. One program a row; `Columns` is the least power of two
/// that holds a row.
template <Element T, int Columns>
struct Softmax {
  void operator()(Ptr<const T> x, Ptr<T> out, Int columns) const {
    auto column = arange<Columns>();
    auto inside = column < columns;
    auto at = program_id(0) * columns + column;
    auto row = where(inside, cast<f32>(load(x + at, inside)), -1e30f);
    auto shifted = exp(row - max<0>(row));
    auto kept = where(inside, shifted, 0.0f);
    store(out + at, cast<T>(kept / sum<0>(kept)), inside);
  }
};

namespace {

template <Element T, int Columns>
bool check(Device& device, int rows, int columns, std::mt19937_64& generator, const char* what,
           double bound) {
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  std::vector<T> x = example::uniform<T>(count, generator);
  for (T& value : x) value = T(static_cast<float>(value) * 20.0f);
  Buffer<T> device_x = device.buffer<T>(x);
  Buffer<T> out = example::poisoned<T>(device, count);
  device.launch(Softmax<T, Columns>{}, grid(rows), device_x, out, columns);

  std::vector<double> want(count);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const std::size_t first = r * static_cast<std::size_t>(columns);
    const std::size_t last = first + static_cast<std::size_t>(columns);
    double highest = -HUGE_VAL;
    double total = 0.0;
    for (std::size_t i = first; i < last; ++i)
      highest = std::max(highest, static_cast<double>(x[i]));
    for (std::size_t i = first; i < last; ++i)
      total += want[i] = std::exp(static_cast<double>(x[i]) - highest);
    for (std::size_t i = first; i < last; ++i) want[i] /= total;
  }
  // Values far below the row's largest are judged against 1e-6: f16 cannot hold them.
  const double floor = sizeof(T) == 2 ? 1e-3 : 1e-6;
  return example::verdict(what, example::relative_error(out.to_vector(), want, floor), bound);
}

int main_on(Program& program) {
  Device device = program.device();
  const std::uint64_t seed = example::seed_of(program.arguments());
  std::printf("softmax on %s, seed=%llu\n", device.name().c_str(),
              static_cast<unsigned long long>(seed));
  std::mt19937_64 generator(seed);
  bool good = check<f32, 1024>(device, 257, 781, generator, "f32, 257 x 781", 2e-6);
  good = check<f16, 256>(device, 64, 200, generator, "f16, 64 x 200", 1e-3) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The value of "name=N" among the program's arguments.
inline int option(const std::vector<std::string>& arguments, const std::string& name,
                  int otherwise) {
  for (const std::string& word : arguments) {
    if (word.compare(0, name.size() + 1, name + "=") == 0) {
      return std::atoi(word.c_str() + name.size() + 1);
    }
  }
  return otherwise;
}

}  // namespace bench

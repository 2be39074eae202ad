#pragma once

#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace teeny::detail {

/// Owner of a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      value_ = other.release();
    }
    return *this;
  }
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] bool open() const noexcept { return value_ >= 0; }
  int release() noexcept { return std::exchange(value_, -1); }
  void close() noexcept {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_ = -1;
};

/// The system's words for an errno value ("No such file or directory").
[[nodiscard]] inline std::string reason(int code) { return std::generic_category().message(code); }

}  // namespace teeny::detail

// What the static libraries of the machine that makes a release take from its C library, and Ubuntu
// 22.04's (2.35) has not. Linked into the programs, these are found first.

#include <cstdint>
#include <cstdlib>

#include <unistd.h>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (::getentropy(&value, sizeof value) != 0) std::abort();
  return value;
}

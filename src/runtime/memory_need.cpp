#include "teeny/runtime/memory_need.hpp"

#include <limits>
#include <mutex>

namespace teeny {

namespace {

struct Declared {
  std::mutex mutex;
  std::optional<u64> bytes;
};

// Made by the first declaration, which may come before anything in this file is initialised.
Declared& declared() {
  static Declared one;
  return one;
}

}  // namespace

MemoryNeed memory_need(u64 bytes) {
  const std::lock_guard lock(declared().mutex);
  const u64 before = declared().bytes.value_or(0);
  const u64 most = std::numeric_limits<u64>::max();
  declared().bytes = bytes > most - before ? most : before + bytes;
  return {};
}

std::optional<u64> declared_memory_need() {
  const std::lock_guard lock(declared().mutex);
  return declared().bytes;
}

}  // namespace teeny

// Machine code for the kernels of these tests, written by hand to launch ABI 1 (ir/kernel.hpp).

#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

template <class T>
T argument(const void* const* arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

std::uint64_t linear(const std::uint32_t* position, const std::uint32_t* grid) {
  return position[0] +
         std::uint64_t{grid[0]} * (position[1] + std::uint64_t{grid[1]} * position[2]);
}

template <class T>
void widen(const void* const* arguments, int index, std::uint64_t* out) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, arguments[index], sizeof(T));
  out[index - 1] = bits;
}

}  // namespace

#define KERNEL(name)                                                                \
  extern "C" void name(const void* const* arguments, const std::uint32_t* position, \
                       const std::uint32_t* grid, void* scratch);                   \
  extern "C" void name([[maybe_unused]] const void* const* arguments,               \
                       [[maybe_unused]] const std::uint32_t* position,              \
                       [[maybe_unused]] const std::uint32_t* grid, [[maybe_unused]] void* scratch)

// Counts how often each program ran; one whose scratch is not its own, or not aligned, counts 1000.
KERNEL(Count) {
  auto* out = argument<std::int32_t*>(arguments, 0);
  auto* words = static_cast<std::uint64_t*>(scratch);
  const std::uint64_t me = linear(position, grid);
  bool wrong = reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0;
  constexpr int count = 4096 / 8;
  for (int i = 0; i < count; ++i) words[i] = me;
  for (int i = 0; i < count; ++i) wrong = wrong || words[i] != me;
  __atomic_fetch_add(&out[me], wrong ? 1000 : 1, __ATOMIC_RELAXED);
}

KERNEL(First) { argument<std::int32_t*>(arguments, 0)[linear(position, grid)] = 1; }
KERNEL(Fill) { argument<std::int32_t*>(arguments, 0)[linear(position, grid)] = 7; }
KERNEL(Hidden) { argument<std::int32_t*>(arguments, 0)[linear(position, grid)] = 8; }
KERNEL(Scaled) { argument<std::int32_t*>(arguments, 0)[linear(position, grid)] = 9; }

// The bits of each scalar as the kernel sees them.
KERNEL(Scalars) {
  auto* out = argument<std::uint64_t*>(arguments, 0);
  widen<std::int8_t>(arguments, 1, out);
  widen<std::uint16_t>(arguments, 2, out);
  widen<std::int32_t>(arguments, 3, out);
  widen<std::uint64_t>(arguments, 4, out);
  widen<std::uint16_t>(arguments, 5, out);
  widen<float>(arguments, 6, out);
  widen<double>(arguments, 7, out);
  widen<bool>(arguments, 8, out);
}

// A product that is subnormal, unless the processor was told to flush it.
KERNEL(Subnormal) {
  volatile float tiny = 1e-38f;
  argument<float*>(arguments, 0)[0] = tiny * 0.01f;
}

// Writes down that it ran: log[0] counts, the values follow.
KERNEL(Append) {
  auto* log = argument<std::int32_t*>(arguments, 0);
  log[++log[0]] = argument<std::int32_t>(arguments, 1);
}

// out[program] = in[program] * factor.
KERNEL(Scale) {
  const std::uint64_t me = linear(position, grid);
  argument<std::int32_t*>(arguments, 1)[me] =
      argument<const std::int32_t*>(arguments, 0)[me] * argument<std::int32_t>(arguments, 2);
}

#include "teeny/base/digest.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "teeny/base/error.hpp"

namespace teeny {

namespace {

constexpr std::uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::array<std::uint32_t, 8> initial_state = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// A build with sanitizers inlines nothing by itself, and its tests read large files.
[[gnu::always_inline]] constexpr inline std::uint32_t rotate_right(std::uint32_t x,
                                                                   unsigned n) noexcept {
  return (x >> n) | (x << (32U - n));
}

std::string hexadecimal(const std::array<std::uint8_t, 32>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

std::array<char, 8> little_endian(std::uint64_t value) noexcept {
  std::array<char, 8> bytes;
  for (unsigned i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return bytes;
}

}  // namespace

Sha256::Sha256() noexcept : state_(initial_state), pending_{} {}

void Sha256::block(const std::uint8_t* data) noexcept {
  std::uint32_t w[64];
  for (std::size_t i = 0; i < 16; ++i) {
    w[i] = std::uint32_t{data[4 * i]} << 24 | std::uint32_t{data[4 * i + 1]} << 16 |
           std::uint32_t{data[4 * i + 2]} << 8 | std::uint32_t{data[4 * i + 3]};
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 =
        rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 =
        rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + s1 + choice + round_constants[i] + w[i];
    const std::uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    const std::uint32_t t2 = s0 + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> next = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += next[i];
}

Sha256& Sha256::update(std::string_view bytes) noexcept {
  // An empty view may point nowhere, and nothing may be copied from there, not even nothing.
  if (bytes.empty()) return *this;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t count = bytes.size();
  std::size_t held = static_cast<std::size_t>(length_ % 64);
  length_ += count;
  if (held != 0) {
    const std::size_t taken = std::min(count, 64 - held);
    std::memcpy(pending_.data() + held, data, taken);
    data += taken;
    count -= taken;
    held += taken;
    if (held == 64) block(pending_.data());
  }
  for (; count >= 64; data += 64, count -= 64) block(data);
  if (count != 0) std::memcpy(pending_.data(), data, count);
  return *this;
}

Sha256& Sha256::field(std::string_view bytes) noexcept {
  return number(bytes.size()).update(bytes);
}

Sha256& Sha256::number(std::uint64_t value) noexcept {
  const auto bytes = little_endian(value);
  return update({bytes.data(), bytes.size()});
}

std::array<std::uint8_t, 32> Sha256::finish() noexcept {
  const std::uint64_t bits = length_ * 8;
  update(std::string_view("\x80", 1));
  constexpr std::array<char, 64> zeros{};
  const auto held = static_cast<std::size_t>(length_ % 64);
  update({zeros.data(), held <= 56 ? 56 - held : 120 - held});
  std::array<char, 8> big_endian = little_endian(bits);
  std::reverse(big_endian.begin(), big_endian.end());
  update({big_endian.data(), big_endian.size()});
  std::array<std::uint8_t, 32> result;
  for (std::size_t i = 0; i < 32; ++i) {
    result[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return result;
}

std::string Sha256::hex() noexcept { return hexadecimal(finish()); }

std::string sha256_hex(std::string_view bytes) { return Sha256().update(bytes).hex(); }

std::string sha256_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto fail = [&](int code) {
    return Error(ErrorKind::environment,
                 "cannot read " + path.string() + ": " + std::generic_category().message(code));
  };
  if (descriptor < 0) throw fail(errno);
  Sha256 digest;
  std::vector<char> buffer(std::size_t{1} << 18);
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      const int code = errno;
      ::close(descriptor);
      throw fail(code);
    }
    if (count == 0) break;
    digest.update({buffer.data(), static_cast<std::size_t>(count)});
  }
  ::close(descriptor);
  return digest.hex();
}

}  // namespace teeny

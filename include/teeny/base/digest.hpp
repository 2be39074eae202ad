#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace teeny {

/// SHA-256 (FIPS 180-4), streaming.
class Sha256 {
 public:
  Sha256() noexcept;
  Sha256& update(std::string_view bytes) noexcept;
  /// Appends the length as eight little-endian bytes, then the bytes: fields cannot run together.
  Sha256& field(std::string_view bytes) noexcept;
  /// Appends eight little-endian bytes.
  Sha256& number(std::uint64_t value) noexcept;
  [[nodiscard]] std::array<std::uint8_t, 32> finish() noexcept;
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() noexcept;

 private:
  void block(const std::uint8_t* data) noexcept;
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_;
  std::uint64_t length_ = 0;
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// Digest of a file's bytes; Error(environment) when it cannot be read.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);

}  // namespace teeny

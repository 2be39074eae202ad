#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

/// A picture in memory: u8[height][width][3], red green blue.
struct Picture {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;
};

/// Reads PNG or JPEG (any channels; alpha is dropped). teeny::Error naming path and reason.
Picture read_picture(const std::filesystem::path& path);

/// Writes PNG. teeny::Error naming path and reason.
void write_png(const std::filesystem::path& path, const Picture& picture);

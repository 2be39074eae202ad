#include "tool/transport/tar.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr std::size_t block_size = 512;
constexpr std::size_t name_size = 100;
constexpr std::uint64_t largest_octal_size = (std::uint64_t{1} << 33) - 1;

std::array<char, block_size> header(const std::string& name, unsigned mode, std::uint64_t size,
                                    char type) {
  std::array<char, block_size> block{};
  const auto put = [&block](std::size_t at, const char* text, std::size_t count) {
    std::memcpy(block.data() + at, text, count);
  };
  const auto octal = [&](std::size_t at, std::size_t width, std::uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%0*llo", static_cast<int>(width - 1),
                  static_cast<unsigned long long>(value));
    put(at, digits, width - 1);
  };
  put(0, name.data(), std::min(name.size(), name_size));
  octal(100, 8, mode);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, std::min(size, largest_octal_size));
  octal(136, 12, 0);
  block[156] = type;
  put(257, "ustar", 6);
  put(263, "00", 2);
  std::memset(block.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  octal(148, 7, sum);
  return block;
}

// A pax record holds its own length in decimal.
std::string pax_record(const std::string& key, const std::string& value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (rest + std::to_string(length).size() != length) ++length;
  return std::to_string(length) + " " + key + "=" + value + "\n";
}

class Writer {
 public:
  explicit Writer(const Sink& sink) : sink_(sink) {}

  bool put(std::string_view bytes) {
    written_ += bytes.size();
    return sink_(bytes);
  }
  bool pad(std::uint64_t size) {
    static const std::array<char, block_size> zeros{};
    const std::size_t rest = static_cast<std::size_t>(size % block_size);
    return rest == 0 || put({zeros.data(), block_size - rest});
  }
  bool entry(const std::string& name, unsigned mode, std::uint64_t size, char type) {
    std::string records;
    if (name.size() > name_size) records += pax_record("path", name);
    if (size > largest_octal_size) records += pax_record("size", std::to_string(size));
    if (!records.empty()) {
      const auto block = header("pax", 0644, records.size(), 'x');
      if (!put({block.data(), block.size()}) || !put(records) || !pad(records.size())) return false;
    }
    const auto block = header(name, mode, size, type);
    return put({block.data(), block.size()});
  }
  bool file(const fs::path& path, std::uint64_t size) {
    std::ifstream in(path, std::ios::binary);
    std::vector<char> piece(std::size_t{256} * 1024);
    std::uint64_t left = size;
    while (left != 0) {
      in.read(piece.data(),
              static_cast<std::streamsize>(std::min<std::uint64_t>(left, piece.size())));
      const auto count = in.gcount();
      if (count <= 0) {
        throw Error(ErrorKind::environment, path.string() + " became shorter while it was read");
      }
      if (!put({piece.data(), static_cast<std::size_t>(count)})) return false;
      left -= static_cast<std::uint64_t>(count);
    }
    return pad(size);
  }
  bool end() { return put(std::string(2 * block_size, '\0')); }
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

 private:
  const Sink& sink_;
  std::uint64_t written_ = 0;
};

}  // namespace

std::optional<std::uint64_t> write_tar(const fs::path& directory, const Sink& sink) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  Writer writer(sink);
  for (const auto& path : paths) {
    const auto status = fs::symlink_status(path);
    const std::string name = path.lexically_relative(directory).generic_string();
    if (fs::is_directory(status)) {
      if (!writer.entry(name + "/", 0755, 0, '5')) return std::nullopt;
    } else if (fs::is_regular_file(status)) {
      const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
      const auto size = fs::file_size(path);
      if (!writer.entry(name, runs ? 0755 : 0644, size, '0') || !writer.file(path, size)) {
        return std::nullopt;
      }
    } else {
      throw Error(ErrorKind::input, path.string() + " is neither a file nor a directory");
    }
  }
  if (!writer.end()) return std::nullopt;
  return writer.written();
}

std::optional<std::uint64_t> write_tar(const fs::path& directory,
                                       const std::vector<PackagedFile>& files, const Sink& sink) {
  Writer writer(sink);
  for (const auto& file : files) {
    const fs::path path = directory / file.path;
    const auto size = fs::file_size(path);
    if (!writer.entry(file.path, file.mode, size, '0') || !writer.file(path, size)) {
      return std::nullopt;
    }
  }
  if (!writer.end()) return std::nullopt;
  return writer.written();
}

}  // namespace teeny::tool

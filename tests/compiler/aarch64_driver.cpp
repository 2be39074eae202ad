// Runs CPU kernels on AArch64, under emulation: aarch64_driver LAUNCHES RESULTS. Compiled by the
// test that uses it. LAUNCHES, numbers as u64: path of the shared object, entry, bytes of scratch
// memory, three extents of the grid, count of arguments, then each: 1 for a buffer or 0 for a
// value, and its bytes. Texts and bytes follow their length. RESULTS: the bytes of all buffers, in
// order.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace {

using Entry = void (*)(const void* const*, const std::uint32_t*, const std::uint32_t*, void*);

std::FILE* launches = nullptr;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "aarch64_driver: %s\n", what);
  std::exit(1);
}

bool read_number(std::uint64_t& value) {
  return std::fread(&value, sizeof value, 1, launches) == 1;
}

std::uint64_t number() {
  std::uint64_t value = 0;
  if (!read_number(value)) fail("the launches end early");
  return value;
}

std::string bytes() {
  std::string value(number(), '\0');
  if (std::fread(value.data(), 1, value.size(), launches) != value.size()) {
    fail("the launches end early");
  }
  return value;
}

void launch(std::uint64_t path_length, std::FILE* results) {
  std::string path(path_length, '\0');
  if (std::fread(path.data(), 1, path.size(), launches) != path.size()) fail("no path");
  const std::string name = bytes();
  const std::uint64_t scratch_bytes = (number() + 63) / 64 * 64;
  std::uint32_t grid[3];
  for (auto& extent : grid) extent = static_cast<std::uint32_t>(number());
  std::vector<bool> is_buffer(number());
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < is_buffer.size(); ++i) {
    is_buffer[i] = number() != 0;
    contents.push_back(bytes());
  }
  std::vector<const char*> addresses(contents.size());
  std::vector<const void*> arguments;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    addresses[i] = contents[i].data();
    arguments.push_back(is_buffer[i] ? static_cast<const void*>(&addresses[i]) : addresses[i]);
  }
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) fail(dlerror());
  const auto entry = reinterpret_cast<Entry>(dlsym(object, name.c_str()));
  if (entry == nullptr) fail(dlerror());
  void* scratch = std::aligned_alloc(64, scratch_bytes + 64);
  std::uint32_t position[3];
  for (position[2] = 0; position[2] < grid[2]; ++position[2]) {
    for (position[1] = 0; position[1] < grid[1]; ++position[1]) {
      for (position[0] = 0; position[0] < grid[0]; ++position[0]) {
        std::memset(scratch, 0xa5, scratch_bytes + 64);
        entry(arguments.data(), position, grid, scratch);
      }
    }
  }
  std::free(scratch);
  dlclose(object);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (is_buffer[i]) std::fwrite(contents[i].data(), 1, contents[i].size(), results);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("two files are wanted");
  launches = std::fopen(argv[1], "rb");
  std::FILE* results = std::fopen(argv[2], "wb");
  if (launches == nullptr || results == nullptr) fail("a file cannot be opened");
  for (std::uint64_t length = 0; read_number(length);) launch(length, results);
  return std::fclose(results) == 0 ? 0 : 1;
}

#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/cpu/cpu.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/ir/builder.hpp"

namespace teeny::compiler::testing {

using Grid = std::array<std::uint32_t, 3>;

/// An argument of a kernel: a value, or the contents of the buffer that a pointer points to.
struct Argument {
  bool is_buffer = false;
  std::vector<char> bytes = {};

  template <class T>
  static Argument value(T v) {
    Argument argument{false, std::vector<char>(sizeof v)};
    std::memcpy(argument.bytes.data(), &v, sizeof v);
    return argument;
  }
  template <class T>
  static Argument buffer(const std::vector<T>& elements) {
    Argument argument{true, std::vector<char>(elements.size() * sizeof(T))};
    if (!elements.empty()) {
      std::memcpy(argument.bytes.data(), elements.data(), argument.bytes.size());
    }
    return argument;
  }
  template <class T>
  [[nodiscard]] std::vector<T> as() const {
    std::vector<T> elements(bytes.size() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
};

/// A kernel that needs no passes, and what it is run on. Running changes the buffers.
struct Launch {
  ir::Kernel kernel;
  Grid grid = {1, 1, 1};
  std::vector<Argument> arguments;

  /// As the launch ABI wants them; valid while `addresses` lives and nothing is added.
  [[nodiscard]] std::vector<const void*> pointers(std::vector<const char*>& addresses) const {
    addresses.clear();
    for (const Argument& argument : arguments) addresses.push_back(argument.bytes.data());
    std::vector<const void*> list;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      list.push_back(arguments[i].is_buffer ? static_cast<const void*>(&addresses[i])
                                            : addresses[i]);
    }
    return list;
  }
};

/// A compiled kernel, loaded into this process.
class LoadedKernel {
 public:
  explicit LoadedKernel(const Artifact& artifact)
      : scratch_bytes_((artifact.info.scratch_bytes + 63) / 64 * 64) {
    const int file = ::memfd_create("kernel", MFD_CLOEXEC);
    const auto size = static_cast<ssize_t>(artifact.code.size());
    if (file < 0 || ::write(file, artifact.code.data(), artifact.code.size()) != size) std::abort();
    handle_ = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    ::close(file);
    if (handle_ == nullptr) throw Error(ErrorKind::environment, ::dlerror());
    entry_ = reinterpret_cast<Entry>(::dlsym(handle_, artifact.info.kernel.c_str()));
    if (entry_ == nullptr) throw Error(ErrorKind::environment, ::dlerror());
  }
  ~LoadedKernel() { ::dlclose(handle_); }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  /// Runs every program of the grid in turn, with poisoned scratch memory of just the right size.
  void run(const Grid& grid, const std::vector<const void*>& arguments) const {
    const std::size_t guard = 64;
    const std::unique_ptr<char, decltype(&std::free)> scratch(
        static_cast<char*>(std::aligned_alloc(64, scratch_bytes_ + guard)), &std::free);
    Grid position{};
    for (position[2] = 0; position[2] < grid[2]; ++position[2]) {
      for (position[1] = 0; position[1] < grid[1]; ++position[1]) {
        for (position[0] = 0; position[0] < grid[0]; ++position[0]) {
          std::memset(scratch.get(), 0xa5, scratch_bytes_ + guard);
          entry_(arguments.data(), position.data(), grid.data(), scratch.get());
          for (std::size_t i = 0; i < guard; ++i) {
            ASSERT_EQ(static_cast<unsigned char>(scratch.get()[scratch_bytes_ + i]), 0xa5)
                << "the kernel wrote past its scratch memory";
          }
        }
      }
    }
  }

 private:
  using Entry = void (*)(const void* const*, const std::uint32_t*, const std::uint32_t*, void*);
  void* handle_ = nullptr;
  Entry entry_ = nullptr;
  std::size_t scratch_bytes_;
};

/// Where kernels are compiled for and run: this machine, or an AArch64 board under emulation.
class Machine {
 public:
  virtual ~Machine() = default;
  [[nodiscard]] virtual CpuTarget target() const = 0;
  virtual void run(std::vector<Launch>& launches) = 0;
};

class Host : public Machine {
 public:
  [[nodiscard]] CpuTarget target() const override { return host_cpu_target(); }
  void run(std::vector<Launch>& launches) override {
    for (const Launch& launch : launches) {
      std::vector<const char*> addresses;
      LoadedKernel(compile_cpu(launch.kernel, target()))
          .run(launch.grid, launch.pointers(addresses));
    }
  }
};

/// The processor of a Jetson Orin, by qemu and a small program compiled for it.
class EmulatedBoard : public Machine {
 public:
  /// Why it cannot be had here; nullopt where it can.
  [[nodiscard]] static std::optional<std::string> missing() {
    for (const char* program : {"qemu-aarch64", "aarch64-linux-gnu-g++"}) {
      if (!find_program(program)) return std::string("there is no ") + program + " (run ./setup)";
    }
    return std::nullopt;
  }
  [[nodiscard]] CpuTarget target() const override {
    return {"aarch64-linux-gnu", "cortex-a78ae", "", 2};
  }

  void run(std::vector<Launch>& launches) override {
    const std::string directory = directory_.path().string();
    const std::string driver = directory + "/driver";
    if (!std::filesystem::exists(driver)) {
      call({"aarch64-linux-gnu-g++", "-std=c++17", "-O1",
            TEENY_SOURCE_DIR "/tests/compiler/aarch64_driver.cpp", "-o", driver, "-ldl"});
    }
    std::string text;
    const auto number = [&](std::uint64_t value) {
      text.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const auto bytes = [&](std::string_view value) {
      number(value.size());
      text.append(value);
    };
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Artifact artifact = compile_cpu(launches[i].kernel, target());
      const std::string object = directory + "/kernel" + std::to_string(i) + ".so";
      write_file(object, artifact.code);
      bytes(object);
      bytes(artifact.info.kernel);
      number(artifact.info.scratch_bytes);
      for (const std::uint32_t extent : launches[i].grid) number(extent);
      number(launches[i].arguments.size());
      for (const Argument& argument : launches[i].arguments) {
        number(argument.is_buffer ? 1 : 0);
        bytes({argument.bytes.data(), argument.bytes.size()});
      }
    }
    write_file(directory + "/launches", text);
    call({"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", driver, directory + "/launches",
          directory + "/results"});
    const std::string results = read_file(directory + "/results");
    std::size_t place = 0;
    for (Launch& launch : launches) {
      for (Argument& argument : launch.arguments) {
        if (!argument.is_buffer) continue;
        results.copy(argument.bytes.data(), argument.bytes.size(), place);
        place += argument.bytes.size();
      }
    }
    if (place != results.size()) throw Error(ErrorKind::internal, "the results are incomplete");
  }

 private:
  static void call(const std::vector<std::string>& words) {
    Command command;
    command.argv = words;
    const ProcessResult result = teeny::run(command);
    if (result.exit_code != 0) {
      throw Error(ErrorKind::environment, display(words) + ": " + result.output + result.error);
    }
  }
  TemporaryDirectory directory_;
};

}  // namespace teeny::compiler::testing

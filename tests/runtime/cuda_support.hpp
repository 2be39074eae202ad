#pragma once

// What tests of the CUDA device share: code that the played driver loads, and what it tells.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"

namespace teeny::test {

/// Makes the played driver the one that whoever asks for libcuda.so.1 gets, and asks it things.
class FakeDriver {
 public:
  FakeDriver() : handle_(::dlopen(library(), RTLD_NOW | RTLD_GLOBAL)) {
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
    void (*reset)() = nullptr;
    find("fake_cuda_reset", &reset);
    reset();
  }
  [[nodiscard]] static const char* library() {
    return TEENY_BUILD_DIR "/tests/fake_driver/libcuda.so.1";
  }
  [[nodiscard]] long long calls(const char* name) const { return ask("fake_cuda_calls", name); }
  [[nodiscard]] long long live(const char* kind) const { return ask("fake_cuda_live", kind); }
  [[nodiscard]] long long count(const char* what) const { return ask("fake_cuda_count", what); }

 private:
  [[nodiscard]] long long ask(const char* function, const char* name) const {
    long long (*call)(const char*) = nullptr;
    find(function, &call);
    return call(name);
  }
  template <class Function>
  void find(const char* name, Function* function) const {
    void* symbol = ::dlsym(handle_, name);
    if (symbol == nullptr) throw std::runtime_error(::dlerror());
    std::memcpy(function, &symbol, sizeof symbol);
  }
  void* handle_;
};

/// Machine code of one kernel as a driver reads it, but for the instructions: an ELF image of the
/// form of CUDA 12's assembler, or 13's, with its entry and the sizes of its parameters.
[[nodiscard]] inline std::string machine_code(int chip, const std::string& entry,
                                              const std::vector<std::uint16_t>& parameters,
                                              bool cuda_13 = false) {
  std::string bytes(64, '\0');
  const auto put = [&](std::size_t at, auto value) {
    if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  std::memcpy(bytes.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  bytes[7] = cuda_13 ? '\x41' : '\x33';
  bytes[8] = cuda_13 ? '\x08' : '\x07';
  put(16, std::uint16_t{2});
  put(18, std::uint16_t{190});
  put(48, cuda_13 ? 0x06000004u | static_cast<std::uint32_t>(chip) << 8
                  : 0x00500500u | static_cast<std::uint32_t>(chip));

  std::string info;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto ordinal = static_cast<std::uint16_t>(i);
    const std::uint32_t size = std::uint32_t{parameters[i]} << 18 | 0x1f000u;
    std::string one("\x04\x17\x0c\x00\0\0\0\0", 8);
    one.append(reinterpret_cast<const char*>(&ordinal), 2).append(2, '\0');
    one.append(reinterpret_cast<const char*>(&size), 4);
    info += one;
  }
  const std::string names =
      std::string(1, '\0') + ".names" + '\0' + ".text." + entry + '\0' + ".nv.info." + entry + '\0';
  struct Section {
    std::size_t name;
    std::string content;
  };
  const std::vector<Section> sections = {
      {0, ""}, {1, names}, {8, std::string(16, '\0')}, {8 + 6 + entry.size() + 1, info}};
  std::string headers;
  for (const Section& section : sections) {
    std::string header(64, '\0');
    const auto name = static_cast<std::uint32_t>(section.name);
    const std::uint64_t offset = bytes.size();
    const std::uint64_t size = section.content.size();
    std::memcpy(header.data(), &name, sizeof name);
    std::memcpy(header.data() + 24, &offset, sizeof offset);
    std::memcpy(header.data() + 32, &size, sizeof size);
    headers += header;
    bytes += section.content;
  }
  put(40, std::uint64_t{bytes.size()});
  put(52, std::uint16_t{64});
  put(58, std::uint16_t{64});
  put(60, static_cast<std::uint16_t>(sections.size()));
  put(62, std::uint16_t{1});
  return bytes + headers;
}

/// An artifact for tests that load it themselves: its code is PTX of one parameter.
[[nodiscard]] inline Artifact ptx_artifact(Capability capability, PtxVersion version,
                                           std::uint64_t shared = 0, int threads = 128) {
  Artifact artifact;
  artifact.info.kind = ArtifactKind::ptx;
  artifact.info.kernel = "Kernel";
  artifact.info.fingerprint = std::string(64, 'f');
  artifact.info.target = Target(capability, version).canonical();
  artifact.info.key = artifact_key(artifact.info.fingerprint, Target(capability, version), "", "");
  artifact.info.capability = capability;
  artifact.info.ptx_version = version;
  artifact.info.threads = threads;
  artifact.info.shared_bytes = shared;
  artifact.info.launch_abi = ir::launch_abi;
  artifact.info.parameters = {"ptr<i32>"};
  artifact.code = "//\n.version " + version.name() + "\n.target " + capability.name() +
                  "\n.visible .entry Kernel(.param .u64 p)\n{\n}\n";
  return artifact;
}

/// The same with machine code.
[[nodiscard]] inline Artifact machine_artifact(Capability capability, std::uint64_t shared = 0,
                                               int threads = 128) {
  Artifact artifact = ptx_artifact(capability, PtxVersion{8, 0}, shared, threads);
  artifact.info.kind = ArtifactKind::cubin;
  artifact.info.assembler = "ptxas 12.8.93";
  artifact.code = machine_code(capability.number(), "Kernel", {8});
  return artifact;
}

}  // namespace teeny::test

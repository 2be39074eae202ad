#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>

#include "tool/package/elf.hpp"
#include "tool/package/manifest.hpp"

#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/records.hpp"

namespace teeny::test {

inline Artifact ptx_of(Capability capability, PtxVersion version) {
  Artifact artifact;
  artifact.info.kind = ArtifactKind::ptx;
  artifact.info.kernel = "Scale";
  artifact.info.fingerprint = std::string(64, '1');
  artifact.info.key = std::string(64, '2');
  artifact.info.target = Target(capability, version).canonical();
  artifact.info.capability = capability;
  artifact.info.ptx_version = version;
  artifact.code = ".version " + version.name() + "\n.target " + capability.name() + "\n";
  return artifact;
}

inline Artifact code_of(Capability capability, AssemblerVersion assembler) {
  Artifact artifact = ptx_of(capability, {7, 4});
  artifact.info.kind = ArtifactKind::cubin;
  artifact.info.key = std::string(64, '3');
  artifact.info.assembler = assembler_name(assembler);
  artifact.info.elf_abi = elf_abi(assembler, capability)->version;
  artifact.info.registers = 24;
  artifact.info.spill_bytes = 0;
  artifact.code =
      "\x7f"
      "ELF";
  return artifact;
}

/// An ELF file of that machine that asks for a loader, libraries and versions of them, and does
/// nothing.
inline std::string elf_of(const tool::ElfInfo& info) {
  std::string strings(1, '\0');
  const auto name = [&strings](const std::string& text) {
    const auto at = strings.size();
    strings += text + '\0';
    return at;
  };
  std::vector<Elf64_Dyn> dynamic;
  const auto entry = [&dynamic](Elf64_Sxword tag, Elf64_Xword value) {
    Elf64_Dyn one{};
    one.d_tag = tag;
    one.d_un.d_val = value;
    dynamic.push_back(one);
  };
  struct Need {
    Elf64_Verneed library;
    Elf64_Vernaux version;
  };
  std::vector<Need> needs(info.needs.size());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const bool last = i + 1 == needs.size();
    needs[i].library = {1, 1, static_cast<Elf64_Word>(name(info.needs[i].library)),
                        sizeof(Elf64_Verneed), static_cast<Elf64_Word>(last ? 0 : sizeof(Need))};
    needs[i].version = {0, 0, static_cast<Elf64_Half>(i + 2),
                        static_cast<Elf64_Word>(name(info.needs[i].version)), 0};
  }
  for (const auto& library : info.needed) entry(DT_NEEDED, name(library));
  const auto interpreter = name(info.interpreter);
  const std::size_t dynamic_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  const std::size_t needs_at = dynamic_at + (dynamic.size() + 4) * sizeof(Elf64_Dyn);
  const std::size_t strings_at = needs_at + needs.size() * sizeof(Need);
  entry(DT_STRTAB, strings_at);
  entry(DT_VERNEED, needs_at);
  entry(DT_VERNEEDNUM, needs.size());
  entry(DT_NULL, 0);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = info.machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  const auto segment = [](Elf64_Word type, std::size_t offset, std::size_t size) {
    Elf64_Phdr one{};
    one.p_type = type;
    one.p_offset = one.p_vaddr = offset;
    one.p_filesz = size;
    return one;
  };
  const Elf64_Phdr segments[] = {
      segment(PT_LOAD, 0, strings_at + strings.size()),
      segment(PT_INTERP, strings_at + interpreter, info.interpreter.size() + 1),
      segment(PT_DYNAMIC, dynamic_at, dynamic.size() * sizeof(Elf64_Dyn))};
  std::string bytes;
  const auto put = [&bytes](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  put(&header, sizeof header);
  put(segments, sizeof segments);
  put(dynamic.data(), dynamic.size() * sizeof(Elf64_Dyn));
  put(needs.data(), needs.size() * sizeof(Need));
  return bytes + strings;
}

/// What the distribution's cross compiler asks for: fits JetPack 6 and later.
inline tool::ElfInfo arm_program() {
  tool::ElfInfo elf;
  elf.machine = tool::elf_aarch64;
  elf.interpreter = "/lib/ld-linux-aarch64.so.1";
  elf.needed = {"libstdc++.so.6", "libc.so.6"};
  elf.needs = {{"libc.so.6", "GLIBC_2.34", {}}, {"libstdc++.so.6", "GLIBCXX_3.4.29", {}}};
  return elf;
}

/// A package for jetson-orin-nano with one program and one kernel, Scale.
class TestPackage {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

  void set_program(const tool::ElfInfo& elf) { elf_ = elf; }
  void declare_memory(std::uint64_t bytes) { peak_ = bytes; }
  void set_devices(const std::vector<std::string>& devices) { devices_ = devices; }
  /// Another form of the kernel.
  void add(const Artifact& artifact) {
    const auto file = Cache(cache()).publish(artifact);
    artifacts_.push_back(file.lexically_relative(cache()).generic_string());
  }
  /// Writes all that is not there yet, the manifest last.
  const std::filesystem::path& finish() {
    for (const char* part : {"bin", "cache", "conf"}) {
      std::filesystem::create_directories(path() / part);
    }
    write_file(path() / "bin" / "app", elf_of(elf_), 0755);
    ProgramRecords records("app");
    if (!artifacts_.empty()) {
      records.add("5Scale", {"Scale", "Scale<float>", std::string(64, '1'), artifacts_});
    }
    records.set_peak_device_bytes(peak_);
    records.write(cache());
    tool::Manifest manifest;
    manifest.name = "demo";
    manifest.board = "jetson-orin-nano@6.0";
    manifest.triple = "aarch64-linux-gnu";
    manifest.programs = {"app"};
    for (const auto& device : devices_) manifest.devices.emplace_back(device, "");
    manifest.files = tool::list_files(path());
    write_file(path() / tool::Manifest::path, manifest.to_json());
    return path();
  }

 private:
  [[nodiscard]] std::filesystem::path cache() const { return path() / "cache"; }

  TemporaryDirectory directory_{"a package 'é $"};
  tool::ElfInfo elf_ = arm_program();
  std::vector<std::string> artifacts_;
  std::vector<std::string> devices_ = {"cuda"};
  std::optional<std::uint64_t> peak_;
};

}  // namespace teeny::test

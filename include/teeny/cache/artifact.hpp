#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/target.hpp"

namespace teeny {

/// What an artifact's bytes are.
enum class ArtifactKind : std::uint8_t { ptx, cubin, shared_object };
[[nodiscard]] std::string_view extension(ArtifactKind kind) noexcept;  ///< "ptx", "cubin", "so"

/// What is known of a compiled kernel; travels inside the artifact.
struct ArtifactInfo {
  ArtifactKind kind = ArtifactKind::ptx;
  std::string kernel;       ///< name, also the entry symbol
  std::string fingerprint;  ///< of its IR, 64 digits
  std::string key;          ///< 64 digits: `artifact_key`
  std::string target;       ///< Target::canonical(), with the PTX version that was taken
  std::string compiler;     ///< teenyc's identity
  std::string assembler;    ///< of machine code: `assembler_name`; empty for PTX and CPU code
  std::optional<Capability> capability = {};   ///< CUDA
  std::optional<PtxVersion> ptx_version = {};  ///< CUDA
  std::vector<std::string> parameters;         ///< IR types in order: "ptr<const f32>", "i32"
  int launch_abi = 0;
  int threads = 0;                        ///< of a block (CUDA); 1 for the CPU
  std::uint64_t shared_bytes = 0;         ///< dynamic shared memory of a launch (CUDA)
  std::uint64_t static_shared_bytes = 0;  ///< what the code has besides (machine code)
  std::uint64_t scratch_bytes = 0;        ///< scratch of one program (CPU)
  std::optional<int> elf_abi = {};        ///< ABI version of machine code's ELF header
  int registers = -1;                     ///< of a thread (machine code); -1: unknown
  int spill_bytes = -1;   ///< that a thread stores and loads for want of registers; -1: unknown
  double compile_ms = 0;  ///< of this compilation; never part of the bytes (left 0 in files)
};

/// SHA-256 over fingerprint, target (as asked), teenyc's identity, assembler and version: fields
/// length-prefixed.
[[nodiscard]] std::string artifact_key(std::string_view fingerprint, const Target& target,
                                       std::string_view compiler_identity,
                                       std::string_view assembler);

/// What the artifact can run on, in words: "sm_87 and later" (PTX), "sm_87 only" (machine code of
/// an integrated chip), "sm_80, sm_86, sm_89" (of others), "aarch64-linux-gnu cortex-a78ae".
[[nodiscard]] std::string runs_on(const ArtifactInfo& info);

/// What it is, in words: "PTX 8.2 for sm_87 and later", "machine code of sm_87 by ptxas 12.9.86",
/// "CPU code for aarch64-linux-gnu cortex-a78ae".
[[nodiscard]] std::string form_of(const ArtifactInfo& info);

/// The code of a kernel with its description.
struct Artifact {
  ArtifactInfo info;
  std::string code;  ///< PTX text, or an ELF image

  /// The file's bytes. PTX: the text, then a block of `//teeny` comment lines with the description
  /// and, as the last line, the digest of all before it. ELF: the image, then a trailer
  /// (description as JSON, its length, digest of all before it, magic). The same input gives the
  /// same bytes.
  [[nodiscard]] std::string pack() const;
  /// Reads it back; Error(input) that says truncated, altered (digest) or of a newer format, naming
  /// `origin`.
  [[nodiscard]] static Artifact unpack(std::string bytes, const std::filesystem::path& origin);
};

}  // namespace teeny

#include "teeny/cache/artifact.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/artifact_info.hpp"
#include "teeny/target/loading.hpp"

// The file formats, version 1. Both end in the digest of all that comes before it, so that a file
// cut short, or changed anywhere, cannot pass.
//
//   PTX:  <code> [newline if the code does not end in one]
//         //teeny-artifact 1 <size of the code in bytes>
//         //teeny-description <JSON on one line>
//         //teeny-sha256 <64 hexadecimal digits>
//
//   ELF:  <image> <JSON> <u64 size of the image> <u64 size of the JSON> <u32 version>
//         <64 hexadecimal digits> "teenyART"                              (integers little-endian)
//
// A later version keeps the last line (the last 76 bytes) and the place of the version number.

namespace teeny {

namespace {

constexpr unsigned format_version = 1;
constexpr std::string_view artifact_word = "//teeny-artifact ";
constexpr std::string_view description_word = "//teeny-description ";
constexpr std::string_view digest_word = "//teeny-sha256 ";
constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";
constexpr std::string_view trailer_magic = "teenyART";
constexpr std::size_t digest_size = 64;
constexpr std::size_t trailer_size = 8 + 8 + 4 + digest_size + 8;

void append_little_endian(std::string& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

Error refused(const std::filesystem::path& origin, const std::string& why) {
  return Error(ErrorKind::input, origin.string() + ": " + why,
               "remove the file and compile the kernel again, or copy it again");
}

Error truncated(const std::filesystem::path& origin) {
  return refused(origin, "truncated: wanted a teeny artifact that ends in its digest, found " +
                             std::string("a file without one"));
}

void check_digest(std::string_view covered, std::string_view recorded,
                  const std::filesystem::path& origin) {
  const std::string actual = sha256_hex(covered);
  if (actual == recorded) return;
  throw refused(origin, "altered: its digest says " + std::string(recorded) +
                            ", but its bytes have " + actual);
}

void check_version(unsigned long long version, const std::filesystem::path& origin) {
  if (version <= format_version) return;
  throw Error(ErrorKind::input,
              origin.string() + ": written in format " + std::to_string(version) +
                  " of artifacts, and this teeny reads up to format " +
                  std::to_string(format_version),
              "build the program with the teeny that made the file, or compile the kernel again");
}

Artifact checked(Artifact artifact, const std::filesystem::path& origin) {
  const bool elf = std::string_view(artifact.code).substr(0, elf_magic.size()) == elf_magic;
  if (elf != (artifact.info.kind != ArtifactKind::ptx)) {
    throw refused(origin, "its description says " + std::string(extension(artifact.info.kind)) +
                              ", but its code is " + (elf ? "an ELF image" : "text"));
  }
  return artifact;
}

// The last line of `bytes`, without its newline; removed from `bytes`.
std::string_view take_last_line(std::string_view& bytes) {
  if (bytes.empty() || bytes.back() != '\n') return {};
  bytes.remove_suffix(1);
  const std::size_t start = bytes.rfind('\n') + 1;  // 0 when there is none
  const std::string_view line = bytes.substr(start);
  bytes = bytes.substr(0, start);
  return line;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

Artifact unpack_text(std::string bytes, const std::filesystem::path& origin) {
  std::string_view rest = bytes;
  const std::string_view digest = take_last_line(rest);
  if (!starts_with(digest, digest_word) || digest.size() != digest_word.size() + digest_size) {
    throw truncated(origin);
  }
  check_digest(rest, digest.substr(digest_word.size()), origin);
  const std::string_view description = take_last_line(rest);
  const std::string_view head = take_last_line(rest);
  if (!starts_with(head, artifact_word)) throw refused(origin, "not an artifact of teeny");
  const auto words = split(head.substr(artifact_word.size()), ' ');
  const auto version = parse_unsigned(words.front());
  if (!version) throw refused(origin, "its format line is damaged: " + std::string(head));
  check_version(*version, origin);
  const auto size = words.size() == 2 ? parse_unsigned(words[1]) : std::nullopt;
  if (!size || *size > rest.size() || !starts_with(description, description_word)) {
    throw refused(origin, "its description block is damaged");
  }
  Artifact artifact{info_from_json(std::string(description.substr(description_word.size()))), {}};
  bytes.resize(static_cast<std::size_t>(*size));
  artifact.code = std::move(bytes);
  return checked(std::move(artifact), origin);
}

Artifact unpack_elf(std::string bytes, const std::filesystem::path& origin) {
  const std::string_view all = bytes;
  if (all.size() < trailer_size || all.substr(all.size() - trailer_magic.size()) != trailer_magic) {
    throw truncated(origin);
  }
  std::string_view rest = all.substr(0, all.size() - trailer_magic.size());
  const std::string_view digest = rest.substr(rest.size() - digest_size);
  rest.remove_suffix(digest_size);
  check_digest(rest, digest, origin);
  check_version(little_endian(rest.substr(rest.size() - 4)), origin);
  const std::uint64_t json_size = little_endian(rest.substr(rest.size() - 12, 8));
  const std::uint64_t code_size = little_endian(rest.substr(rest.size() - 20, 8));
  rest.remove_suffix(20);
  if (code_size > rest.size() || json_size != rest.size() - code_size) {
    throw refused(origin, "the sizes in its trailer do not add up");
  }
  Artifact artifact{info_from_json(std::string(rest.substr(static_cast<std::size_t>(code_size)))),
                    {}};
  bytes.resize(static_cast<std::size_t>(code_size));
  artifact.code = std::move(bytes);
  return checked(std::move(artifact), origin);
}

}  // namespace

std::string_view extension(ArtifactKind kind) noexcept {
  switch (kind) {
    case ArtifactKind::ptx:
      return "ptx";
    case ArtifactKind::cubin:
      return "cubin";
    case ArtifactKind::shared_object:
      return "so";
  }
  return "";
}

std::string artifact_key(std::string_view fingerprint, const Target& target,
                         std::string_view compiler_identity, std::string_view assembler) {
  return Sha256()
      .field("teeny artifact key 1")
      .field(fingerprint)
      .field(target.canonical())
      .field(compiler_identity)
      .field(assembler)
      .hex();
}

namespace {

// By the rule of `fit_capability`, over the capabilities that are known.
std::string machine_code_runs_on(Capability capability) {
  std::vector<std::string> names = {capability.name()};
  for (const CapabilityInfo& chip : known_capabilities()) {
    const DeviceFacts device{chip.capability, {}, chip.integrated};
    const bool plain = chip.capability.suffix() == Capability::Suffix::none;
    if (plain && fit_capability(device, capability) == Fit::compatible_machine_code) {
      names.push_back(chip.capability.name());
    }
  }
  return names.size() == 1 ? names.front() + " only" : join(names, ", ");
}

}  // namespace

std::string runs_on(const ArtifactInfo& info) {
  if (info.kind == ArtifactKind::shared_object) {
    const Target target = Target::parse_canonical(info.target);
    if (target.is_cpu()) return target.cpu().triple + " " + target.cpu().cpu;
    return "cpu";
  }
  if (!info.capability) return "an unknown device";
  const std::string name = info.capability->name();
  if (info.kind == ArtifactKind::cubin) return machine_code_runs_on(*info.capability);
  switch (info.capability->suffix()) {
    case Capability::Suffix::arch:
      return name + " only";
    case Capability::Suffix::family:
      return name + " and its family";
    case Capability::Suffix::none:
      break;
  }
  return name + " and later";
}

std::string form_of(const ArtifactInfo& info) {
  switch (info.kind) {
    case ArtifactKind::ptx:
      return "PTX " + (info.ptx_version ? info.ptx_version->name() : "?") + " for " + runs_on(info);
    case ArtifactKind::cubin:
      return "machine code of " + (info.capability ? info.capability->name() : "?") +
             (info.assembler.empty() ? "" : " by " + info.assembler);
    case ArtifactKind::shared_object:
      return "CPU code for " + runs_on(info);
  }
  return {};
}

std::string Artifact::pack() const {
  ArtifactInfo described = info;
  described.compile_ms = 0;  // a time would make every file another one
  const std::string json = info_to_json(described);
  std::string bytes = code;
  if (info.kind == ArtifactKind::ptx) {
    if (!bytes.empty() && bytes.back() != '\n') bytes.push_back('\n');
    bytes.append(artifact_word)
        .append(std::to_string(format_version))
        .append(" ")
        .append(std::to_string(code.size()))
        .append("\n");
    bytes.append(description_word).append(json).append("\n");
    const std::string digest = sha256_hex(bytes);
    return bytes.append(digest_word).append(digest).append("\n");
  }
  bytes.append(json);
  append_little_endian(bytes, code.size(), 8);
  append_little_endian(bytes, json.size(), 8);
  append_little_endian(bytes, format_version, 4);
  const std::string digest = sha256_hex(bytes);
  return bytes.append(digest).append(trailer_magic);
}

Artifact Artifact::unpack(std::string bytes, const std::filesystem::path& origin) {
  if (bytes.empty()) throw truncated(origin);
  try {
    return starts_with(bytes, elf_magic) ? unpack_elf(std::move(bytes), origin)
                                         : unpack_text(std::move(bytes), origin);
  } catch (const Error& error) {
    // The description's reader knows nothing of files.
    if (error.message().find(origin.string()) != std::string::npos) throw;
    throw refused(origin, error.message());
  }
}

}  // namespace teeny

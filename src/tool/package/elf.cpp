#include "tool/package/elf.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <type_traits>

#include <elf.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

/// Bounded reads from the file's bytes.
class Image {
 public:
  Image(std::string_view bytes, std::string origin) : bytes_(bytes), origin_(std::move(origin)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, origin_ + " is no sound 64-bit little-endian ELF file: " + what);
  }

  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) fail("it ends too early");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  [[nodiscard]] std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) fail("a name lies outside it");
    const auto end = bytes_.find('\0', offset);
    if (end == std::string_view::npos) fail("a name has no end");
    return std::string(bytes_.substr(offset, end - offset));
  }

  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

 private:
  std::string_view bytes_;
  std::string origin_;
};

// What of the dynamic section is used here; addresses already turned into offsets in the file.
struct Dynamic {
  std::optional<std::uint64_t> strings;
  std::optional<std::uint64_t> version_needs;
  std::uint64_t version_need_count = 0;
  std::optional<std::uint64_t> version_definitions;
  std::uint64_t version_definition_count = 0;
  std::optional<std::uint64_t> versions;
  std::optional<std::uint64_t> symbols;
  std::vector<std::uint64_t> needed;
  std::vector<std::uint64_t> run_paths;
};

std::vector<Elf64_Phdr> segments_of(const Image& image, const Elf64_Ehdr& header) {
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    image.fail("its program headers have an unknown size");
  }
  std::vector<Elf64_Phdr> segments;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    segments.push_back(image.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
  }
  return segments;
}

std::uint64_t offset_of(const Image& image, const std::vector<Elf64_Phdr>& segments,
                        std::uint64_t address) {
  for (const auto& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      return segment.p_offset + (address - segment.p_vaddr);
    }
  }
  image.fail("an address lies in no segment");
}

Dynamic read_dynamic(const Image& image, const std::vector<Elf64_Phdr>& segments,
                     const Elf64_Phdr& where) {
  Dynamic dynamic;
  const auto offset = [&](std::uint64_t address) { return offset_of(image, segments, address); };
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= where.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = image.at<Elf64_Dyn>(where.p_offset + at);
    const std::uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL:
        return dynamic;
      case DT_STRTAB:
        dynamic.strings = offset(value);
        break;
      case DT_SYMTAB:
        dynamic.symbols = offset(value);
        break;
      case DT_VERSYM:
        dynamic.versions = offset(value);
        break;
      case DT_VERNEED:
        dynamic.version_needs = offset(value);
        break;
      case DT_VERNEEDNUM:
        dynamic.version_need_count = value;
        break;
      case DT_VERDEF:
        dynamic.version_definitions = offset(value);
        break;
      case DT_VERDEFNUM:
        dynamic.version_definition_count = value;
        break;
      case DT_NEEDED:
        dynamic.needed.push_back(value);
        break;
      case DT_RPATH:
      case DT_RUNPATH:
        dynamic.run_paths.push_back(value);
        break;
      default:
        break;
    }
  }
  return dynamic;
}

// How many dynamic symbols there are: only the section table says it plainly.
std::uint64_t symbol_count(const Image& image, const Elf64_Ehdr& header) {
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = image.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_DYNSYM && section.sh_entsize == sizeof(Elf64_Sym)) {
      return section.sh_size / sizeof(Elf64_Sym);
    }
  }
  return 0;
}

std::vector<VersionNeed> read_needs(const Image& image, const Elf64_Ehdr& header,
                                    const Dynamic& dynamic) {
  std::map<unsigned, VersionNeed> by_index;
  std::uint64_t at = *dynamic.version_needs;
  for (std::uint64_t i = 0; i < dynamic.version_need_count; ++i) {
    const auto need = image.at<Elf64_Verneed>(at);
    const std::string library = image.text(*dynamic.strings + need.vn_file);
    std::uint64_t version_at = at + need.vn_aux;
    for (unsigned j = 0; j < need.vn_cnt; ++j) {
      const auto version = image.at<Elf64_Vernaux>(version_at);
      by_index[version.vna_other & 0x7fffU] = {
          library, image.text(*dynamic.strings + version.vna_name), {}};
      version_at += version.vna_next;
    }
    at += need.vn_next;
  }
  const std::uint64_t count = dynamic.versions && dynamic.symbols ? symbol_count(image, header) : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto version = image.at<Elf64_Half>(*dynamic.versions + i * sizeof(Elf64_Half));
    const auto need = by_index.find(version & 0x7fffU);
    if (need == by_index.end()) continue;
    const auto symbol = image.at<Elf64_Sym>(*dynamic.symbols + i * sizeof(Elf64_Sym));
    if (symbol.st_shndx != SHN_UNDEF) continue;
    need->second.symbols.push_back(image.text(*dynamic.strings + symbol.st_name));
  }
  std::vector<VersionNeed> needs;
  for (auto& [index, need] : by_index) {
    std::sort(need.symbols.begin(), need.symbols.end());
    needs.push_back(std::move(need));
  }
  std::sort(needs.begin(), needs.end(), [](const VersionNeed& a, const VersionNeed& b) {
    return std::tie(a.library, a.version) < std::tie(b.library, b.version);
  });
  return needs;
}

// The first is the library's own name and no version.
std::vector<std::string> read_definitions(const Image& image, const Dynamic& dynamic) {
  std::vector<std::string> names;
  std::uint64_t at = *dynamic.version_definitions;
  for (std::uint64_t i = 0; i < dynamic.version_definition_count; ++i) {
    const auto definition = image.at<Elf64_Verdef>(at);
    if ((definition.vd_flags & VER_FLG_BASE) == 0 && definition.vd_cnt != 0) {
      const auto name = image.at<Elf64_Verdaux>(at + definition.vd_aux);
      names.push_back(image.text(*dynamic.strings + name.vda_name));
    }
    at += definition.vd_next;
  }
  return names;
}

}  // namespace

std::string elf_machine_name(std::uint16_t machine) {
  if (machine == elf_x86_64) return "x86-64";
  if (machine == elf_aarch64) return "AArch64";
  return "machine " + std::to_string(machine);
}

bool is_elf(std::string_view bytes) noexcept {
  return bytes.substr(0, 4) ==
         "\x7f"
         "ELF";
}

ElfInfo read_elf(std::string_view bytes, const std::string& origin) {
  const Image image(bytes, origin);
  if (!is_elf(bytes)) image.fail("it does not begin as one");
  const auto header = image.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) image.fail("it is not 64-bit");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) image.fail("it is big-endian");
  ElfInfo info;
  info.machine = header.e_machine;
  const auto segments = segments_of(image, header);
  for (const auto& segment : segments) {
    if (segment.p_type == PT_INTERP) info.interpreter = image.text(segment.p_offset);
    if (segment.p_type != PT_DYNAMIC) continue;
    const Dynamic dynamic = read_dynamic(image, segments, segment);
    if (!dynamic.strings) image.fail("its dynamic section has no names");
    for (const auto name : dynamic.needed)
      info.needed.push_back(image.text(*dynamic.strings + name));
    for (const auto paths : dynamic.run_paths) {
      for (auto& path : split(image.text(*dynamic.strings + paths), ':')) {
        info.run_paths.push_back(std::move(path));
      }
    }
    if (dynamic.version_needs) info.needs = read_needs(image, header, dynamic);
    if (dynamic.version_definitions) info.defines = read_definitions(image, dynamic);
  }
  return info;
}

ElfInfo read_elf_file(const std::filesystem::path& path) {
  return read_elf(read_file(path), path.string());
}

}  // namespace teeny::tool

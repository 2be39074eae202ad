#include "compiler/assembler/cubin.hpp"

#include <cstdint>
#include <cstring>

#include <elf.h>

namespace teeny::compiler {
namespace {

constexpr std::uint16_t machine_cuda = 190;  // EM_CUDA of newer elf.h
constexpr int abi_with_wide_flags = 8;

}  // namespace

std::optional<CubinHeader> read_cubin_header(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != machine_cuda) {
    return std::nullopt;
  }
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shnum == 0 || header.e_shoff > bytes.size() ||
      sections > bytes.size() - header.e_shoff) {
    return std::nullopt;
  }
  CubinHeader result;
  result.abi = {header.e_ident[EI_OSABI], header.e_ident[EI_ABIVERSION]};
  // The capability is the lowest byte of the flags, in the newer interface the one above.
  const int shift = result.abi.version >= abi_with_wide_flags ? 8 : 0;
  result.capability = static_cast<int>(header.e_flags >> shift & 0xff);
  return result;
}

}  // namespace teeny::compiler

#include "compiler/assembler/report.hpp"

#include <optional>
#include <string>

#include "teeny/base/text.hpp"

namespace teeny::compiler {
namespace {

/// The number before `words`, as in "24 registers"; nullopt where the words are not there.
std::optional<int> number_before(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  const auto value = parse_unsigned(text.substr(begin, at - begin));
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

}  // namespace

// ptxas info    : Compiling entry function 'K' for 'sm_87'
// ptxas info    : Function properties for K
//     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ptxas info    : Used 8 registers, used 1 barriers, 16 bytes smem, 360 bytes cmem[0]
AssemblerReport read_report(std::string_view text, std::string_view kernel) {
  constexpr std::string_view entry = "Compiling entry function '";
  AssemblerReport report;
  const std::size_t begin = text.find(std::string(entry) + std::string(kernel) + "'");
  if (begin == std::string_view::npos) return report;
  text.remove_prefix(begin);
  text = text.substr(0, text.find(entry, entry.size()));
  report.registers = number_before(text, " registers").value_or(-1);
  const auto stores = number_before(text, " bytes spill stores");
  const auto loads = number_before(text, " bytes spill loads");
  if (stores && loads) report.spill_bytes = *stores + *loads;
  report.static_shared_bytes =
      static_cast<std::uint64_t>(number_before(text, " bytes smem").value_or(0));
  return report;
}

}  // namespace teeny::compiler

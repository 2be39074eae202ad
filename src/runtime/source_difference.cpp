#include "source_difference.hpp"

#include <system_error>
#include <vector>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/ir/difference.hpp"
#include "teeny/ir/text.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

constexpr std::size_t fingerprint_digits = 64;

}  // namespace

std::string difference_from(const fs::path& cache, const ir::Kernel& wanted,
                            const std::string& fingerprint) {
  const fs::path file = cache / (wanted.name + "-" + fingerprint) / "kernel.tir";
  try {
    const auto first = ir::first_difference(wanted, ir::parse(read_file(file)));
    if (!first) return "\n  " + file.string() + " is not the text of that fingerprint";
    return "\n  the first operation that differs: wanted " + first->wanted + "\n  found in " +
           file.string() + " " + first->found;
  } catch (const Error& error) {
    return "\n  what differs cannot be told: " + error.message();
  }
}

std::string difference_from_other(const fs::path& cache, const Traced& traced) {
  const std::string start = traced.kernel.name + "-";
  std::vector<std::string> others;
  std::error_code failure;
  for (fs::directory_iterator at(cache, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (name.size() == start.size() + fingerprint_digits &&
        name.compare(0, start.size(), start) == 0) {
      others.push_back(name.substr(start.size()));
    }
  }
  if (others.size() != 1) return {};
  return difference_from(cache, traced.kernel, others.front());
}

}  // namespace teeny::detail

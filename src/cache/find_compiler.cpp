#include <cstdlib>
#include <system_error>

#include <unistd.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/compiler_client.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

bool is_program(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

bool is_identity(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The file beside the program as it was named, or beside what a link to it leads to.
std::string identity_of(const fs::path& program) {
  std::error_code failure;
  const fs::path resolved = fs::canonical(program, failure);
  for (const fs::path& path : {program, failure ? program : resolved}) {
    fs::path file = path;
    file += ".identity";
    const auto text = read_file_if_exists(file);
    if (!text) continue;
    const std::string_view identity = trim(*text);
    if (is_identity(identity)) return std::string(identity);
    throw Error(ErrorKind::environment,
                file.string() +
                    ": wanted the 64 hexadecimal digits of teenyc's identity, found \"" +
                    std::string(identity.substr(0, 80)) + "\"",
                "install teenyc again");
  }
  throw Error(ErrorKind::environment,
              "wanted the identity of " + program.string() + " in " + program.string() +
                  ".identity, found no such file",
              "install teenyc with the .identity file that was built with it");
}

}  // namespace

std::optional<CompilerLocation> find_compiler() {
  if (const char* named = std::getenv("TEENYC_PATH"); named != nullptr && *named != '\0') {
    const fs::path program = fs::absolute(named);
    if (!is_program(program)) {
      std::error_code failure;
      throw Error(
          ErrorKind::environment,
          "TEENYC_PATH=" + std::string(named) + ": wanted the program teenyc, found " +
              (fs::exists(program, failure) ? "something that cannot be executed" : "no such file"),
          "let TEENYC_PATH name teenyc, or unset it");
    }
    return CompilerLocation{program, identity_of(program)};
  }
  const fs::path beside = executable_path().parent_path() / "teenyc";
  if (is_program(beside)) return CompilerLocation{beside, identity_of(beside)};
  if (std::getenv("PATH") == nullptr) return std::nullopt;  // nobody named a place to look in
  if (const auto on_path = find_program("teenyc")) {
    return CompilerLocation{*on_path, identity_of(*on_path)};
  }
  return std::nullopt;
}

}  // namespace teeny

#include "tool/project/cmake_inputs.hpp"

#include "tool/installation.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// Inside a generator expression these characters have a meaning of their own.
std::string in_generator_expression(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case ',':
        result += "$<COMMA>";
        break;
      case '>':
        result += "$<ANGLE-R>";
        break;
      case ';':
        result += "$<SEMICOLON>";
        break;
      default:
        result += c;
    }
  }
  return result;
}

void add_compile_option(std::string& text, const std::string& option) {
  text += "add_compile_options(" +
          cmake_quote("$<$<COMPILE_LANGUAGE:C,CXX>:" + in_generator_expression(option) + ">") +
          ")\n";
}

void map_path(std::string& text, const fs::path& path, const std::string& name) {
  add_compile_option(text, "-ffile-prefix-map=" + path.string() + "=" + name);
}

}  // namespace

std::string cmake_quote(const std::string& text) {
  // A bracket argument takes every character as it is; it needs a closing that the text lacks.
  std::string equals;
  while (text.find("]" + equals + "]") != std::string::npos ||
         (!text.empty() && (text + "]").find("]" + equals + "]") != std::string::npos)) {
    equals += '=';
  }
  return "[" + equals + "[" + (text.empty() || text.front() != '\n' ? "" : "\n") + text + "]" +
         equals + "]";
}

std::string project_include(const fs::path& root, const std::optional<Board>& board, bool release) {
  std::string text = "# Written by teeny; included at the first project().\n";
  // Paths of this machine do not belong in a program: neither in __FILE__ nor in debug information.
  map_path(text, root, ".");
  map_path(text, share_directory(), "teeny");
  text += "add_link_options(\"$<$<LINK_LANGUAGE:C,CXX>:LINKER:--build-id=none>\")\n";
  text += "set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)\n";
  if (board && release && architecture_of(*board) == "x86_64") {
    add_compile_option(text, "-march=" + board->cpu);
  }
  return text;
}

std::string toolchain_file(const Board& board) {
  const std::string architecture = architecture_of(board);
  std::string text = "# Written by teeny for " + board.name + ".\n";
  if (architecture == host_architecture()) {
    // The board's programs are not this machine's, even where the processor is the same.
    text += "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR " + architecture + ")\n";
    return text;
  }
  if (architecture != "aarch64") {
    throw Error(ErrorKind::environment,
                "there is no toolchain file for " + board.triple + " on " + host_architecture(),
                "build on a machine of that architecture");
  }
  if (!find_program("aarch64-linux-gnu-g++")) {
    throw Error(
        ErrorKind::environment,
        "the cross compiler aarch64-linux-gnu-g++ is not on PATH; " + board.name + " needs it",
        "install the package g++-aarch64-linux-gnu");
  }
  const fs::path file = share_directory() / "cmake" / "toolchains" / "aarch64-linux-gnu-gcc.cmake";
  return text + "include(" + cmake_quote(file.string()) + ")\n";
}

std::string sources_of_inputs(const fs::path& inputs) {
  Sha256 digest;
  for (const char* name : {"project.cmake", "toolchain.cmake"}) {
    digest.field(read_file_if_exists(inputs / name).value_or(""));
  }
  const fs::path toolchains = share_directory() / "cmake" / "toolchains";
  digest.field(read_file_if_exists(toolchains / "aarch64-linux-gnu-gcc.cmake").value_or(""));
  return digest.hex();
}

}  // namespace teeny::tool

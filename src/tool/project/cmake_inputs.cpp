#include "tool/project/cmake_inputs.hpp"

#include "tool/installation.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/files.hpp"

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

constexpr const char* cross_gcc_file = "aarch64-linux-gnu-gcc.cmake";
constexpr const char* clang_file = "aarch64-linux-gnu-clang.cmake";

fs::path toolchains_directory() { return share_directory() / "cmake" / "toolchains"; }

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

std::string project_include(const fs::path& root, const std::optional<Board>& board,
                            const Toolchain& toolchain, bool release) {
  std::string text = "# Written by teeny; included at the first project().\n";
  // Paths of this machine do not belong in a program: neither in __FILE__ nor in debug information.
  map_path(text, root, ".");
  map_path(text, share_directory(), "teeny");
  if (!toolchain.sysroot.empty()) map_path(text, toolchain.sysroot, "");
  text += "add_link_options(\"$<$<LINK_LANGUAGE:C,CXX>:LINKER:--build-id=none>\")\n";
  text += "set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)\n";
  if (!board) return text;
  for (const auto& folder : toolchain.driver_folders(board->triple)) {
    text += "add_link_options(" +
            cmake_quote("$<$<LINK_LANGUAGE:C,CXX>:-L" + in_generator_expression(folder.string()) +
                        ">") +
            ")\n";
  }
  if (release && architecture_of(*board) == "x86_64") {
    add_compile_option(text, "-march=" + board->cpu);
  }
  return text;
}

std::string toolchain_file(const Board& board, const Toolchain& toolchain) {
  std::string text = "# Written by teeny for " + board.name + ".\n";
  const auto include = [&text](const char* name) {
    text += "include(" + cmake_quote((toolchains_directory() / name).string()) + ")\n";
  };
  switch (toolchain.kind) {
    case Toolchain::Kind::native:
      // The board's programs are not this machine's, even where the processor is the same.
      text += "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR " + architecture_of(board) +
              ")\n";
      break;
    case Toolchain::Kind::cross_gcc:
      include(cross_gcc_file);
      break;
    case Toolchain::Kind::clang:
      // Copied again, it is another one.
      text += "# sysroot of " + toolchain.sysroot_made + "\n";
      text += "set(TEENY_SYSROOT " + cmake_quote(toolchain.sysroot.string()) + ")\n";
      include(clang_file);
      break;
  }
  if (toolchain.cuda) {
    text += "list(APPEND CMAKE_FIND_ROOT_PATH " + cmake_quote(toolchain.cuda->string()) + ")\n";
  }
  return text;
}

std::string sources_of_inputs(const fs::path& inputs) {
  Sha256 digest;
  for (const char* name : {"project.cmake", "toolchain.cmake"}) {
    digest.field(read_file_if_exists(inputs / name).value_or(""));
  }
  for (const char* name : {cross_gcc_file, clang_file}) {
    digest.field(read_file_if_exists(toolchains_directory() / name).value_or(""));
  }
  return digest.hex();
}

}  // namespace teeny::tool

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/container/container.hpp"
#include "tool/project/file_api.hpp"
#include "tool/project/toolchain.hpp"

#include "teeny/base/process.hpp"
#include "teeny/target/board.hpp"

namespace teeny::tool {

/// The flags of the commands that build: what of a project is meant.
struct Selection {
  std::string package;                      ///< -p: a project() of a super-build; empty: the whole
  std::vector<std::string> bins;            ///< --bin
  std::vector<std::string> examples_named;  ///< --example
  bool all_examples = false;                ///< --examples
  bool no_release = false;
  std::string sysroot;             ///< --sysroot; empty: the board's usual place, if it is there
  std::string cuda_path;           ///< --cuda-path
  std::string container;           ///< --container: an engine, "any"; empty: this machine builds
  std::string features;            ///< comma-separated CMake options to switch on
  std::vector<std::string> extra;  ///< words for CMake's configure step

  [[nodiscard]] bool empty() const {
    return bins.empty() && examples_named.empty() && !all_examples;
  }
};

/// The nearest directory at or above `from` whose CMakeLists.txt calls project(). Error(input) when
/// there is none.
[[nodiscard]] std::filesystem::path find_project_root(const std::filesystem::path& from);

/// The same, or nullopt.
[[nodiscard]] std::optional<std::filesystem::path> project_root_if_any(
    const std::filesystem::path& from);

enum class Purpose {
  program,  ///< programs that run
  check,    ///< only front ends run; nothing is linked
};

/// Where the build tool's messages go.
enum class Messages { shown, in_error };

/// A CMake project configured for the host or for a board, in a build directory of its own under
/// the project: build/teeny/<board or host>-<release, debug or check>.
class BuildTree {
 public:
  /// Nothing is run yet. `board`: nullopt for the host.
  BuildTree(std::filesystem::path root, std::optional<Board> board, const Selection& selection,
            Purpose purpose = Purpose::program);

  /// Chooses the board's toolchain and runs CMake's configure step unless it was run before with
  /// the same words. Error(input) with CMake's own words when it fails.
  void configure();
  /// The targets that the selection names, executables all; Error(usage) naming the choices for a
  /// name that is no executable (or no example). On the host a program that was given
  /// teeny_add_kernels() is stood for by the program with its kernels. Needs configure().
  [[nodiscard]] std::vector<TargetInfo> selected() const;
  /// Builds those targets; all of the project when there are none. Error(input) when it fails:
  /// after the build tool's own messages, or with them in the error.
  void build(const std::vector<TargetInfo>& targets, Messages messages = Messages::shown) const;

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] const Codemodel& codemodel() const noexcept { return codemodel_; }
  /// What builds for the board. Needs configure().
  [[nodiscard]] const Toolchain& toolchain() const noexcept { return toolchain_; }
  /// "jetson-orin-nano@6.0" or "this machine".
  [[nodiscard]] std::string where() const;
  /// The file of a target; Error(input) when it is not there.
  [[nodiscard]] std::filesystem::path artifact(const TargetInfo& target) const;
  /// A command of the board's toolchain, run as that is: on this machine or in a container.
  [[nodiscard]] Command tool_command(const std::vector<std::string>& words) const;
  /// The environment for tools that build for this target: the host's own compiler flags and search
  /// paths are left out of a build for a board.
  [[nodiscard]] std::map<std::string, std::string> environment() const;

 private:
  void write_inputs() const;
  [[nodiscard]] std::vector<std::string> configure_words() const;
  void check_features() const;
  void open_container();

  std::filesystem::path root_;
  std::optional<Board> board_;
  Selection selection_;
  Purpose purpose_;
  bool release_;
  std::filesystem::path directory_;
  Toolchain toolchain_;
  std::optional<Container> container_;
  Codemodel codemodel_;
};

}  // namespace teeny::tool

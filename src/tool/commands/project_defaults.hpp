#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/commands/devices.hpp"
#include "tool/project/project.hpp"
#include "tool/project/project_file.hpp"

#include "teeny/base/error.hpp"
#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Where packages of a project go unless --dest says otherwise: build/package/TARGET, TARGET being
/// the user's own word for the board, or the board's name where that is a file.
[[nodiscard]] std::filesystem::path packages_of(const std::filesystem::path& root,
                                                const std::string& target, const Board& board);

/// What a command line leaves out, from the teeny.toml of the project that one stands in. Whatever
/// is taken from it is printed; what was given on the command line wins. Error(usage) naming flag
/// and key for a value that is needed and in neither.
class ProjectDefaults {
 public:
  /// `command`: "build", for messages. Error(usage) for a teeny.toml that is wrong.
  explicit ProjectDefaults(std::string command,
                           const std::filesystem::path& from = std::filesystem::current_path());

  /// --target: a board, or the path of a board file.
  [[nodiscard]] std::string target(const std::string& given) const;
  /// The target that the file names, if it does; nothing is printed.
  [[nodiscard]] std::optional<std::string> target_in_file() const;
  /// --bin and --example, where the selection has none of them.
  void add_programs(Selection& selection) const;
  /// --device with --options, in their order.
  [[nodiscard]] std::vector<DeviceArgument> devices(const std::vector<DeviceArgument>& given) const;
  /// The file's devices; none where it has none.
  [[nodiscard]] std::vector<DeviceArgument> devices_if_any() const;
  [[nodiscard]] std::vector<std::string> data(const std::vector<std::string>& given) const;
  /// --dest of a package; nullopt where neither says.
  [[nodiscard]] std::optional<std::string> destination(
      const std::optional<std::string>& given) const;

  [[nodiscard]] std::vector<std::string> hosts(const std::vector<std::string>& given) const;
  /// The only host.
  [[nodiscard]] std::string host(const std::string& given) const;
  /// --dest on the board; empty where neither says.
  [[nodiscard]] std::string board_destination(const std::string& given) const;
  /// --package: what the file says, else where `teeny package` puts what the file describes.
  [[nodiscard]] std::string package(const std::string& given) const;
  /// The same; nullopt where neither says.
  [[nodiscard]] std::optional<std::string> package_if_any(
      const std::optional<std::string>& given) const;

 private:
  [[nodiscard]] std::string taken(const std::string& key, const std::string& shown,
                                  const std::string& value) const;
  [[nodiscard]] std::optional<std::filesystem::path> usual_package() const;
  [[nodiscard]] Error missing(const std::string& what, const std::string& flag,
                              const std::string& table, const std::string& line) const;

  std::string command_;
  std::optional<std::filesystem::path> root_;
  std::optional<ProjectFile> file_;
};

}  // namespace teeny::tool

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Error(usage) for a name that CMake or find_package(teeny) would not take for a program.
void check_project_name(const std::string& name);

struct NewProject {
  std::string name;
  std::filesystem::path directory;
  std::string target;  ///< the user's word for the board; empty where none was named
  std::optional<Board> board;
};

/// Writes a project from the files in share/teeny/templates/project: whole, by one rename. Error
/// (usage) when the directory is there and not empty.
void write_new_project(const NewProject& project);

}  // namespace teeny::tool

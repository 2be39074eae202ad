#include "tool/sysroot/marker.hpp"

#include <nlohmann/json.hpp>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

using nlohmann::ordered_json;

constexpr const char* marker_schema = "teeny-sysroot/1";

}  // namespace

std::string SysrootMarker::to_json() const {
  ordered_json root;
  root["schema"] = marker_schema;
  root["triple"] = triple;
  root["board"] = board;
  root["source"] = source;
  root["made"] = made;
  root["folders"] = ordered_json::array();
  for (const auto& folder : folders) root["folders"].push_back(escape_bytes(folder));
  root["glibc"] = glibc;
  root["glibcxx"] = glibcxx;
  root["l4t"] = l4t;
  root["compiler"] = compiler;
  return root.dump(2) + "\n";
}

SysrootMarker SysrootMarker::parse(const std::string& text, const fs::path& file) {
  const std::string again = "make the sysroot again: `teeny sysroot --help`";
  try {
    const auto root = nlohmann::json::parse(text);
    const std::string found = root.at("schema");
    if (found != marker_schema) {
      throw Error(ErrorKind::input,
                  file.string() + " is of schema \"" + found + "\"; this teeny reads \"" +
                      marker_schema + "\"",
                  again);
    }
    SysrootMarker marker;
    marker.triple = root.at("triple");
    marker.board = root.at("board");
    marker.source = root.at("source");
    marker.made = root.at("made");
    for (const std::string folder : root.at("folders")) {
      marker.folders.push_back(unescape_bytes(folder).value_or(folder));
    }
    marker.glibc = root.at("glibc");
    marker.glibcxx = root.at("glibcxx");
    marker.l4t = root.at("l4t");
    marker.compiler = root.at("compiler");
    return marker;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::input, file.string() + " is damaged: " + error.what(), again);
  }
}

FoundSysroot look_at_sysroot(const fs::path& root) {
  std::error_code ignored;
  if (!fs::exists(root, ignored)) return {};
  if (!fs::is_directory(root, ignored)) return {SysrootState::foreign, {}};
  if (fs::exists(root / SysrootMarker::unfinished_path, ignored)) {
    return {SysrootState::unfinished, {}};
  }
  const fs::path file = root / SysrootMarker::path;
  const auto text = read_file_if_exists(file);
  if (!text) {
    return {fs::is_empty(root, ignored) ? SysrootState::absent : SysrootState::foreign, {}};
  }
  auto marker = SysrootMarker::parse(*text, file);
  const auto state = marker.compiler.empty() ? SysrootState::scaffold : SysrootState::finished;
  return {state, std::move(marker)};
}

std::string sysroot_command(const std::string& triple, const std::string& board,
                            const fs::path& root) {
  return display({"teeny", "sysroot", "--host", triple, "--type", board, "--path", root.string(),
                  "--rsync-from"}) +
         " USER@BOARD";
}

}  // namespace teeny::tool

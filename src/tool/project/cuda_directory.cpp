#include "tool/project/cuda_directory.hpp"

#include <algorithm>
#include <vector>

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

bool has_headers_of_cuda(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_directory(directory / "include", ignored);
}

std::vector<std::string> target_folders(const fs::path& toolkit) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(toolkit / "targets", ignored)) {
    if (has_headers_of_cuda(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What the two names of CUDA's folders for 64-bit Arm stand for.
const char* meaning_of_folders() {
  return "aarch64-linux is for Jetsons until CUDA 12, sbsa-linux for servers, and for all since "
         "CUDA 13";
}

}  // namespace

std::optional<fs::path> find_cuda_directory(const Board& board, const std::string& cuda_path,
                                            const fs::path& toolkit) {
  const std::string& wanted = board.cuda_target_directory;
  if (wanted.empty()) {
    if (cuda_path.empty()) return std::nullopt;
    throw Error(ErrorKind::usage,
                "--cuda-path " + cuda_path + ": " + board.full_name() + " has no CUDA device",
                "leave it out");
  }
  const fs::path root = cuda_path.empty() ? toolkit : fs::absolute(cuda_path).lexically_normal();
  const fs::path directory = root / "targets" / wanted;
  const auto there = target_folders(root);
  if (has_headers_of_cuda(directory)) {
    std::vector<std::string> others;
    for (const auto& name : there) {
      if (name != wanted && name != "x86_64-linux") others.push_back(name);
    }
    if (!others.empty()) {
      log(LogLevel::notice, "CUDA for " + board.full_name() + ": " + directory.string() +
                                ", by the board's file, and not " + join(others, ", ") +
                                " beside it (" + meaning_of_folders() + ")");
    }
    return directory;
  }
  if (cuda_path.empty()) return std::nullopt;
  // The folder itself, whatever it is called: the user's word goes before the file's.
  if (there.empty() && has_headers_of_cuda(root)) {
    const std::string name = root.filename().string();
    if (name != wanted && (name == "aarch64-linux" || name == "sbsa-linux")) {
      log(LogLevel::warning, "--cuda-path " + cuda_path + ": " + board.full_name() + " wants " +
                                 wanted + " (" + meaning_of_folders() + ")");
    }
    return root;
  }
  throw Error(ErrorKind::environment,
              "--cuda-path " + cuda_path + ": wanted targets/" + wanted + " for " +
                  board.full_name() + ", found " +
                  (there.empty() ? std::string("no folder of CUDA's") : join(there, ", ")),
              std::string(meaning_of_folders()) +
                  ": install CUDA's cross package of the board's release, or "
                  "name the folder with include/ and lib/ itself");
}

}  // namespace teeny::tool

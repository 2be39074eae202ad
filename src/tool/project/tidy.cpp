#include "tool/project/tidy.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tool/project/source_units.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// For a project that says nothing itself: mistakes and waste, not taste.
constexpr const char* default_checks =
    "-*,clang-diagnostic-*,clang-analyzer-*,bugprone-*,-bugprone-easily-swappable-parameters,"
    "-bugprone-exception-escape,-bugprone-narrowing-conversions,performance-*,"
    "-performance-enum-size,misc-redundant-expression,misc-unused-*";

// The project's own; one that lies above it is another's.
bool has_configuration(const fs::path& root, const fs::path& source) {
  for (fs::path directory = source.parent_path();; directory = directory.parent_path()) {
    std::error_code ignored;
    if (fs::exists(directory / ".clang-tidy", ignored)) return true;
    if (directory == root || directory == directory.parent_path()) return false;
  }
}

std::string escaped(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// clang looks for the headers of a gcc in usual places only.
std::vector<std::string> toolchain_words(const BuildTree& tree, const std::string& triple) {
  std::vector<std::string> words = {"--extra-arg-before=--target=" + triple};
  const Codemodel& model = tree.codemodel();
  if (model.compiler.rfind("GNU", 0) != 0 || model.compiler_path.empty()) return words;
  const auto result = run({{model.compiler_path, "-print-libgcc-file-name"}});
  const fs::path library(std::string(trim(result.output)));
  if (result.exit_code == 0 && library.is_absolute()) {
    words.push_back("--extra-arg-before=--gcc-install-dir=" + library.parent_path().string());
  }
  return words;
}

// "FILE:LINE:COLUMN: KIND: ...": the file, and whether it is an error; nullopt for another line.
std::optional<TidyFinding> finding_of(const std::string& line) {
  for (const char* kind : {": warning: ", ": error: "}) {
    const auto end = line.find(kind);
    if (end == std::string::npos) continue;
    const auto column = line.rfind(':', end - 1);
    if (column == std::string::npos || column == 0) continue;
    const auto row = line.rfind(':', column - 1);
    if (row == std::string::npos) continue;
    if (!parse_unsigned(line.substr(row + 1, column - row - 1)) ||
        !parse_unsigned(line.substr(column + 1, end - column - 1))) {
      continue;
    }
    return TidyFinding{fs::path(line.substr(0, row)).lexically_normal(), line,
                       line.find("[clang-diagnostic-error") != std::string::npos};
  }
  return std::nullopt;
}

}  // namespace

fs::path find_clang_tidy() {
  std::vector<std::string> names = {"clang-tidy-19"};
  for (int version = 24; version > 16; --version) {
    names.push_back("clang-tidy-" + std::to_string(version));
  }
  names.emplace_back("clang-tidy");
  for (const auto& name : names) {
    if (const auto found = find_program(name)) return *found;
  }
  throw Error(ErrorKind::environment, "clippy needs clang-tidy, which is not on PATH",
              "install the package clang-tidy-19");
}

std::vector<TidyFinding> parse_tidy_output(const std::string& output) {
  std::vector<TidyFinding> findings;
  for (const auto& line : split(output, '\n')) {
    if (auto finding = finding_of(line)) {
      findings.push_back(std::move(*finding));
    } else if (!findings.empty() && !line.empty()) {
      findings.back().text += "\n" + line;
    }
  }
  return findings;
}

std::vector<TidyFinding> run_clang_tidy(const BuildTree& tree, const std::string& triple,
                                        const std::vector<fs::path>& sources) {
  const std::string program = find_clang_tidy().string();
  std::vector<std::string> common = {program, "--quiet", "-p", tree.directory().string(),
                                     "--header-filter=^" + escaped(tree.root().string()) + "/.*"};
  for (const auto& word : toolchain_words(tree, triple)) common.push_back(word);
  // The flags are another compiler's; what clang does not know of them is nobody's mistake.
  for (const char* quiet : {"-Wno-unknown-warning-option", "-Wno-unused-command-line-argument",
                            "-Wno-ignored-optimization-argument"}) {
    common.push_back("--extra-arg=" + std::string(quiet));
  }
  std::vector<ProcessResult> results(sources.size());
  std::vector<std::string> failures(sources.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      Command command{common};
      if (!has_configuration(tree.root(), sources[i])) {
        command.argv.push_back("--config={Checks: '" + std::string(default_checks) + "'}");
        command.argv.emplace_back("--extra-arg=-Wall");
      }
      command.argv.push_back(sources[i].string());
      command.environment = tree.environment();
      command.clear_environment = true;
      try {
        results[i] = run(command);
      } catch (const Error& error) {
        failures[i] = error.message();
      }
    }
  };
  std::vector<std::thread> workers;
  const auto cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(cores, sources.size()); ++i) workers.emplace_back(work);
  for (auto& worker : workers) worker.join();

  std::vector<TidyFinding> findings;
  std::set<TidyFinding> told;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto found = parse_tidy_output(results[i].output);
    if (!failures[i].empty() || (results[i].exit_code != 0 && found.empty())) {
      throw Error(ErrorKind::environment, program + " failed on " + sources[i].string() + ": " +
                                              failures[i] + results[i].output + results[i].error);
    }
    for (auto& finding : found) {
      const bool wanted = finding.error || is_own_file(tree.root(), finding.file);
      if (wanted && told.insert(finding).second) findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace teeny::tool

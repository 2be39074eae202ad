#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/ir/builder.hpp"

namespace teeny::test {

/// Sets an environment variable, or takes it away, while it lives.
class Variable {
 public:
  Variable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  std::string name_;
  std::optional<std::string> before_;
};

/// A directory with a stand-in for teenyc of its own identity, which TEENYC_PATH names, and a log
/// of what it was asked. (A link: it is the program's name as given that its identity lies beside.)
class FakeCompiler {
 public:
  explicit FakeCompiler(char identity_digit = 'a')
      : program_(directory_.path() / "teenyc"),
        path_("TEENYC_PATH", program_.string()),
        log_("FAKE_LOG", (directory_.path() / "log").string()) {
    std::filesystem::create_symlink(TEENY_BUILD_DIR "/tests/fake_teenyc", program_);
    set_identity(identity_digit);
  }
  void set_identity(char digit) {
    write_file(program_.string() + ".identity", std::string(64, digit) + "\n");
  }
  [[nodiscard]] CompilerLocation location() const {
    return {program_, std::string(trim(read_file(program_.string() + ".identity")))};
  }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// The log's lines that begin with `word`: "start" or "compile NAME".
  [[nodiscard]] int count(const std::string& word) const {
    int found = 0;
    const std::string text = read_file_if_exists(directory_.path() / "log").value_or("");
    for (const std::string& line : split(text, '\n')) {
      if (line.compare(0, word.size() + 1, word + " ") == 0) ++found;
    }
    return found;
  }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path program_;
  Variable path_;
  Variable log_;
};

/// out[program] = value: a kernel that differs with its constant.
inline ir::Kernel constant_kernel(const std::string& name, std::int64_t value) {
  ir::Builder b(name, {ir::Type::pointer_to(DType::i32)});
  b.store(b.offset(b.parameter(0), b.program_id(0)),
          b.constant(ir::Type::scalar(DType::i32), encode(DType::i32, value)));
  return b.finish();
}

/// All files below a directory, as paths relative to it, sorted.
inline std::vector<std::string> files_below(const std::filesystem::path& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(directory).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace teeny::test

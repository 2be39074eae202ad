#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "teeny/base/error.hpp"

namespace teeny::tool {

/// What a node of a TOML file holds, short enough for a message.
[[nodiscard]] std::string found_text(const toml::node& node);

/// How errors speak of one file.
struct TomlOrigin {
  std::string name;  ///< what messages call the file
  std::string kind;  ///< "a board file"
  std::string next;  ///< what to do about a mistake in it
  ErrorKind error = ErrorKind::input;
};

/// The file as a table; Error naming line and column where it is no TOML.
[[nodiscard]] toml::table parse_toml(std::string_view text, const TomlOrigin& origin);

/// One table of a TOML file, read key by key; `finish` refuses the keys that nobody asked for.
/// Every error names file, line, column (both from 1) and key.
class TomlFields {
 public:
  /// `prefix`: what goes before a key in messages ("package."). Table and origin must outlive it.
  TomlFields(const toml::table& table, const TomlOrigin& origin, std::string prefix)
      : table_(table), origin_(origin), prefix_(std::move(prefix)) {}

  /// Error that a key `what` ("is missing"), at the key's place, or at `node`'s.
  [[noreturn]] void fail(const std::string& key, const std::string& what,
                         const toml::node* node = nullptr) const;

  template <class T>
  std::optional<T> maybe(const std::string& key, std::string_view kind) {
    const auto* node = find(key);
    if (node == nullptr) return std::nullopt;
    if (const auto value = node->value_exact<T>()) return value;
    fail(key, "must be " + std::string(kind) + ", found " + found_text(*node));
  }
  /// A text that is not empty.
  std::optional<std::string> maybe_text(const std::string& key);
  std::string text(const std::string& key);
  /// 0 to 1,000,000,000.
  int number(const std::string& key, std::optional<int> absent = std::nullopt);
  bool truth(const std::string& key);
  /// Empty where the key is absent.
  std::vector<std::string> texts(const std::string& key);
  /// nullptr where the key is absent.
  const toml::table* table(const std::string& key);
  const toml::array* array(const std::string& key, std::string_view kind);
  /// [[key]], at least once.
  const toml::array* tables(const std::string& key);

  void finish() const;

 private:
  const toml::node* find(const std::string& key);

  const toml::table& table_;
  const TomlOrigin& origin_;
  std::string prefix_;
  std::set<std::string> seen_;
};

}  // namespace teeny::tool

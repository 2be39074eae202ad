#include "tool/toml_fields.hpp"

#include <sstream>

#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

std::string at(const TomlOrigin& origin, const toml::source_region& region) {
  if (region.begin.line == 0) return origin.name;
  return origin.name + ":" + std::to_string(region.begin.line) + ":" +
         std::to_string(region.begin.column);
}

}  // namespace

std::string found_text(const toml::node& node) {
  std::ostringstream text;
  node.visit([&text](const auto& value) { text << value; });
  const std::string whole = text.str();
  return whole.size() > 60 ? whole.substr(0, 57) + "..." : whole;
}

toml::table parse_toml(std::string_view text, const TomlOrigin& origin) {
  try {
    return toml::parse(text, origin.name);
  } catch (const toml::parse_error& error) {
    throw Error(origin.error,
                at(origin, error.source()) + ": not TOML: " + std::string(error.description()),
                origin.next);
  }
}

void TomlFields::fail(const std::string& key, const std::string& what,
                      const toml::node* node) const {
  if (node == nullptr) node = table_.get(key);
  // A table that is written with dots has no place of its own.
  const auto& region = node != nullptr ? node->source() : table_.source();
  throw Error(origin_.error, at(origin_, region) + ": " + prefix_ + key + " " + what, origin_.next);
}

const toml::node* TomlFields::find(const std::string& key) {
  seen_.insert(key);
  return table_.get(key);
}

std::optional<std::string> TomlFields::maybe_text(const std::string& key) {
  auto value = maybe<std::string>(key, "a text");
  if (value && value->empty()) fail(key, "is empty");
  return value;
}

std::string TomlFields::text(const std::string& key) {
  if (auto value = maybe_text(key)) return *value;
  fail(key, "is missing");
}

int TomlFields::number(const std::string& key, std::optional<int> absent) {
  const auto value = maybe<std::int64_t>(key, "a whole number");
  if (!value && absent) return *absent;
  if (!value) fail(key, "is missing");
  if (*value < 0 || *value > 1'000'000'000) {
    fail(key, "must be between 0 and 1000000000, found " + std::to_string(*value));
  }
  return static_cast<int>(*value);
}

bool TomlFields::truth(const std::string& key) {
  if (const auto value = maybe<bool>(key, "true or false")) return *value;
  fail(key, "is missing");
}

std::vector<std::string> TomlFields::texts(const std::string& key) {
  std::vector<std::string> values;
  const auto* entries = array(key, "a list of texts");
  if (entries == nullptr) return values;
  for (const auto& entry : *entries) {
    const auto value = entry.value_exact<std::string>();
    if (!value) {
      fail(key, "must be a list of texts, found " + found_text(entry) + " in it", &entry);
    }
    values.push_back(*value);
  }
  return values;
}

const toml::table* TomlFields::table(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return nullptr;
  if (const auto* found = node->as_table()) return found;
  fail(key, "must be a table, found " + found_text(*node));
}

const toml::array* TomlFields::array(const std::string& key, std::string_view kind) {
  const auto* node = find(key);
  if (node == nullptr) return nullptr;
  if (const auto* found = node->as_array()) return found;
  fail(key, "must be " + std::string(kind) + ", found " + found_text(*node));
}

const toml::array* TomlFields::tables(const std::string& key) {
  const auto* node = find(key);
  const auto* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr || array->empty() || !array->is_homogeneous(toml::node_type::table)) {
    fail(key, "must be written as [[" + key + "]], at least once");
  }
  return array;
}

void TomlFields::finish() const {
  const std::vector<std::string> known(seen_.begin(), seen_.end());
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (seen_.count(name) != 0) continue;
    const auto close = nearest(name, known);
    // The key's own place, not its value's.
    throw Error(origin_.error,
                at(origin_, key.source()) + ": " + prefix_ + name + " is no key of " +
                    origin_.kind + "; " +
                    (close ? "did you mean " + *close + "?" : "known here: " + join(known, ", ")),
                origin_.next);
  }
}

}  // namespace teeny::tool

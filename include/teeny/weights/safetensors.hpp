#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "teeny/base/tensor_type.hpp"

namespace teeny {

/// One tensor of a safetensors file.
struct StoredTensor {
  std::string name;
  std::string stored_dtype;    ///< the file's word for it: "F32", "F8_E4M3"
  std::optional<DType> dtype;  ///< nullopt: an element type that teeny computes with nowhere
  std::vector<u64> shape;
  std::span<const std::byte> bytes;  ///< row-major, little-endian; aligned as the file has it

  /// "f32[64x32]", with the file's own word for an element type of which teeny has none.
  [[nodiscard]] std::string type_text() const;
  [[nodiscard]] bool is(const TensorType& type) const {
    return dtype == type.dtype && shape == type.shape;
  }
};

namespace detail {
[[noreturn]] void refuse_dtype(const StoredTensor& tensor, DType wanted);
}  // namespace detail

/// A copy of its elements, row-major. Error(input) for a tensor of another element type.
template <Element T>
  requires(!std::is_same_v<T, bool>)
[[nodiscard]] std::vector<T> elements(const StoredTensor& tensor) {
  if (tensor.dtype != dtype_of<T>) detail::refuse_dtype(tensor, dtype_of<T>);
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// What a safetensors file holds. The format: u64 (little-endian) length of the header; the header,
/// a JSON object of name -> {"dtype", "shape", "data_offsets": [begin, end)} and, under
/// "__metadata__", of text -> text; then the tensors' bytes, without gaps (source: the format's
/// description in the README of huggingface/safetensors).
struct SafetensorsContents {
  std::vector<StoredTensor> tensors;  ///< sorted by name
  std::map<std::string, std::string> metadata;

  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
};

/// The contents of the bytes of such a file, which must outlive them. Error(input) naming `origin`
/// and what is wrong for anything that does not keep to the format: every length and offset is
/// checked before it is used, and no byte belongs to two tensors or to none.
[[nodiscard]] SafetensorsContents parse_safetensors(std::string_view bytes,
                                                    const std::string& origin);

/// A safetensors file, mapped: its tensors are read from disk as they are touched. A file that
/// somebody shortens while it is mapped ends the program, so replace such files, never rewrite
/// them.
class SafetensorsFile {
 public:
  /// Error(environment) when it cannot be read, Error(input) when it is malformed.
  [[nodiscard]] static SafetensorsFile open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const SafetensorsContents& contents() const noexcept { return contents_; }

 private:
  struct Mapping;
  std::filesystem::path path_;
  std::shared_ptr<const Mapping> mapping_;
  SafetensorsContents contents_;
};

/// A tensor to be written.
struct TensorToStore {
  std::string name;
  TensorType type;
  std::span<const std::byte> bytes;
};
/// Of `values`, which must outlive it.
template <Element T>
[[nodiscard]] TensorToStore tensor_to_store(std::string name, std::vector<u64> shape,
                                            std::span<const T> values) {
  return {std::move(name), {dtype_of<T>, std::move(shape)}, std::as_bytes(values)};
}

/// Writes a safetensors file, whole or not at all; the same tensors in any order give the same
/// bytes, each tensor aligned to 8. Error(usage) for two of one name, or bytes that are not as many
/// as the type says.
void write_safetensors(const std::filesystem::path& path, std::vector<TensorToStore> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace teeny

#include "teeny/weights/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/descriptor.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

namespace fs = std::filesystem;

namespace teeny {

namespace {

using nlohmann::json;

constexpr std::size_t length_bytes = 8;
// As other readers of the format have it.
constexpr u64 longest_header = 100'000'000;
constexpr const char* metadata_key = "__metadata__";

struct StoredDtype {
  const char* word;
  std::optional<DType> dtype;
  u64 bytes;
};
constexpr StoredDtype stored_dtypes[] = {
    {"BOOL", DType::boolean, 1},  {"U8", DType::u8, 1},         {"I8", DType::i8, 1},
    {"U16", DType::u16, 2},       {"I16", DType::i16, 2},       {"F16", DType::f16, 2},
    {"BF16", DType::bf16, 2},     {"U32", DType::u32, 4},       {"I32", DType::i32, 4},
    {"F32", DType::f32, 4},       {"U64", DType::u64, 8},       {"I64", DType::i64, 8},
    {"F64", DType::f64, 8},       {"F8_E4M3", std::nullopt, 1}, {"F8_E5M2", std::nullopt, 1},
    {"F8_E8M0", std::nullopt, 1}, {"C64", std::nullopt, 8},
};

const char* stored_word(DType dtype) {
  for (const auto& known : stored_dtypes) {
    if (known.dtype == dtype) return known.word;
  }
  throw Error(ErrorKind::internal, "no safetensors word for " + std::string(name(dtype)));
}

// nullopt where the product does not fit.
std::optional<u64> product(u64 a, u64 b) {
  if (b != 0 && a > std::numeric_limits<u64>::max() / b) return std::nullopt;
  return a * b;
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  SafetensorsContents read() {
    const json header = read_header();
    SafetensorsContents contents;
    for (const auto& [key, value] : header.items()) {
      if (key == metadata_key) {
        read_metadata(value, contents);
      } else {
        contents.tensors.push_back(read_tensor(key, value));
      }
    }
    std::sort(contents.tensors.begin(), contents.tensors.end(),
              [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
    check_whole(contents.tensors);
    return contents;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, origin_ + " is no sound safetensors file: " + what,
                "write the file anew");
  }
  [[noreturn]] void fail(const std::string& tensor, const std::string& what) const {
    fail("tensor \"" + tensor + "\": " + what);
  }

  json read_header() {
    if (bytes_.size() < length_bytes) fail("it ends before the length of its header");
    u64 length = 0;
    std::memcpy(&length, bytes_.data(), length_bytes);
    if (length > longest_header) {
      fail("wanted a header of at most " + std::to_string(longest_header) + " bytes, found " +
           std::to_string(length));
    }
    if (length > bytes_.size() - length_bytes) {
      fail("wanted a header of " + std::to_string(length) + " bytes, found " +
           std::to_string(bytes_.size() - length_bytes));
    }
    const std::string_view text = bytes_.substr(length_bytes, static_cast<std::size_t>(length));
    data_ = bytes_.substr(length_bytes + static_cast<std::size_t>(length));
    if (text.empty() || text.front() != '{') fail("its header does not begin with {");
    // A parser that keeps the last of two equal keys would hide the first.
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int, json::parse_event_t event, json& parsed) {
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key &&
          !keys.back().insert(parsed.get<std::string>()).second) {
        fail("its header has \"" + parsed.get<std::string>() + "\" twice");
      }
      return true;
    };
    try {
      return json::parse(text.begin(), text.end(), watch);
    } catch (const json::exception& error) {
      fail(std::string("its header is no JSON: ") + error.what());
    }
  }

  void read_metadata(const json& value, SafetensorsContents& contents) const {
    if (!value.is_object()) fail("its __metadata__ is no object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail("\"" + key + "\" of its __metadata__ is no text");
      contents.metadata[key] = text.get<std::string>();
    }
  }

  [[nodiscard]] const json& part(const std::string& name, const json& value,
                                 const char* key) const {
    const auto at = value.find(key);
    if (at == value.end()) fail(name, std::string("it has no ") + key);
    return *at;
  }
  [[nodiscard]] std::vector<u64> numbers(const std::string& name, const json& value,
                                         const char* key) const {
    const json& list = part(name, value, key);
    if (!list.is_array()) fail(name, std::string("its ") + key + " is no list");
    std::vector<u64> result;
    for (const auto& number : list) {
      if (!number.is_number_unsigned()) {
        fail(name, std::string("wanted whole numbers from 0 on as its ") + key + ", found " +
                       number.dump(-1, ' ', true, json::error_handler_t::replace));
      }
      result.push_back(number.get<u64>());
    }
    return result;
  }

  StoredTensor read_tensor(const std::string& name, const json& value) const {
    if (!value.is_object()) fail(name, "it is no object");
    StoredTensor tensor;
    tensor.name = name;
    const json& word = part(name, value, "dtype");
    if (!word.is_string()) fail(name, "its dtype is no text");
    tensor.stored_dtype = word.get<std::string>();
    const auto* const known =
        std::find_if(std::begin(stored_dtypes), std::end(stored_dtypes),
                     [&](const StoredDtype& one) { return one.word == tensor.stored_dtype; });
    if (known == std::end(stored_dtypes)) {
      fail(name, "its dtype " + tensor.stored_dtype + " is not known to this reader");
    }
    tensor.dtype = known->dtype;
    tensor.shape = numbers(name, value, "shape");
    std::optional<u64> size = known->bytes;
    for (const u64 extent : tensor.shape) {
      if (size) size = product(*size, extent);
    }
    if (!size) fail(name, "its shape " + shape_text(tensor.shape) + " overflows 64 bits");
    const auto offsets = numbers(name, value, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      fail(name, "wanted its begin and its end as data_offsets");
    }
    if (offsets[1] > data_.size()) {
      fail(name, "wanted data up to byte " + std::to_string(offsets[1]) + ", the file has " +
                     std::to_string(data_.size()) + " of them");
    }
    if (offsets[1] - offsets[0] != *size) {
      fail(name, "wanted " + std::to_string(*size) + " bytes for " + tensor.type_text() +
                     ", found " + std::to_string(offsets[1] - offsets[0]));
    }
    const std::string_view bytes =
        data_.substr(static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(*size));
    tensor.bytes = {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
    return tensor;
  }

  // Each byte of the data belongs to one tensor.
  void check_whole(const std::vector<StoredTensor>& tensors) const {
    std::vector<const StoredTensor*> in_order;
    for (const auto& tensor : tensors) in_order.push_back(&tensor);
    const auto begin_of = [this](const StoredTensor& tensor) {
      return static_cast<std::size_t>(reinterpret_cast<const char*>(tensor.bytes.data()) -
                                      data_.data());
    };
    std::sort(in_order.begin(), in_order.end(), [&](const StoredTensor* a, const StoredTensor* b) {
      return std::pair(begin_of(*a), a->bytes.size()) < std::pair(begin_of(*b), b->bytes.size());
    });
    std::size_t end = 0;
    for (const auto* tensor : in_order) {
      const std::size_t begin = begin_of(*tensor);
      if (begin != end) {
        fail(tensor->name, "it begins at byte " + std::to_string(begin) + " of the data, the one " +
                               "before it ends at " + std::to_string(end));
      }
      end = begin + tensor->bytes.size();
    }
    if (end != data_.size()) {
      fail("wanted " + std::to_string(end) + " bytes of data, found " +
           std::to_string(data_.size()));
    }
  }

  std::string_view bytes_;
  const std::string& origin_;
  std::string_view data_;
};

}  // namespace

std::string StoredTensor::type_text() const {
  return (dtype ? std::string(teeny::name(*dtype)) : stored_dtype) + shape_text(shape);
}

void detail::refuse_dtype(const StoredTensor& tensor, DType wanted) {
  throw Error(ErrorKind::input, "tensor " + tensor.name + ": wanted elements of " +
                                    std::string(teeny::name(wanted)) + ", found " +
                                    tensor.type_text());
}

const StoredTensor* SafetensorsContents::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                   [](const StoredTensor& tensor, std::string_view wanted) {
                                     return std::string_view(tensor.name) < wanted;
                                   });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

SafetensorsContents parse_safetensors(std::string_view bytes, const std::string& origin) {
  return Reader(bytes, origin).read();
}

struct SafetensorsFile::Mapping {
  Mapping(void* start, std::size_t bytes) : address(start), size(bytes) {}
  ~Mapping() {
    if (size != 0) ::munmap(address, size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void* address;
  std::size_t size;
};

SafetensorsFile SafetensorsFile::open(const fs::path& path) {
  const auto cannot = [&path] {
    return Error(ErrorKind::environment,
                 "cannot read " + path.string() + ": " + detail::reason(errno));
  };
  const detail::Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.open()) throw cannot();
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) throw cannot();
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::input, path.string() + ": wanted a safetensors file, found no file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = nullptr;
  if (size != 0) {
    address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
    if (address == MAP_FAILED) throw cannot();
  }
  SafetensorsFile file;
  file.path_ = path;
  file.mapping_ = std::make_shared<const Mapping>(address, size);
  file.contents_ = parse_safetensors({static_cast<const char*>(address), size}, path.string());
  return file;
}

void write_safetensors(const fs::path& path, std::vector<TensorToStore> tensors,
                       const std::map<std::string, std::string>& metadata) {
  // The wider first, so that each lies at a multiple of its own element's size.
  std::sort(tensors.begin(), tensors.end(), [](const TensorToStore& a, const TensorToStore& b) {
    return std::pair(-size_of(a.type.dtype), a.name) < std::pair(-size_of(b.type.dtype), b.name);
  });
  json header = json::object();
  if (!metadata.empty()) header[metadata_key] = metadata;
  std::string data;
  for (const auto& tensor : tensors) {
    const std::string what = path.string() + ": tensor \"" + tensor.name + "\"";
    if (tensor.name == metadata_key || header.contains(tensor.name)) {
      throw Error(ErrorKind::usage, what + ": wanted a name of its own");
    }
    std::optional<u64> wanted = static_cast<u64>(size_of(tensor.type.dtype));
    for (const u64 extent : tensor.type.shape) {
      if (wanted) wanted = product(*wanted, extent);
    }
    if (wanted != tensor.bytes.size()) {
      throw Error(ErrorKind::usage, what + ": wanted the bytes of " + to_string(tensor.type) +
                                        ", found " + std::to_string(tensor.bytes.size()));
    }
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    header[tensor.name] = {{"dtype", stored_word(tensor.type.dtype)},
                           {"shape", tensor.type.shape},
                           {"data_offsets", {begin, data.size()}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    throw Error(ErrorKind::usage,
                path.string() + ": a name or a text of its metadata is not UTF-8");
  }
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
  const u64 length = text.size();
  std::string bytes(length_bytes, '\0');
  std::memcpy(bytes.data(), &length, length_bytes);
  write_file(path, bytes + text + data);
}

}  // namespace teeny

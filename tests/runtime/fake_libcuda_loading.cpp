// Modules: what a driver makes of PTX and machine code, by their headers.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <dlfcn.h>

#include "fake_libcuda.hpp"

namespace fs = std::filesystem;

namespace fake {

namespace {

// Code belongs to the driver, which gives it back when the process ends, unloaded or not.
std::map<Module*, std::unique_ptr<Module>>& modules() {
  static auto& all = *new std::map<Module*, std::unique_ptr<Module>>;
  return all;
}

std::string words(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

template <class T>
T read_at(const char* bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// --- machine code
// ---------------------------------------------------------------------------------

constexpr unsigned char cuda_12_abi = 0x33;
constexpr unsigned char cuda_13_abi = 0x41;

// The chip of an image, as ptxas of CUDA 11 and 12 (OS/ABI 0x33) and 13 (0x41) note it.
int chip_of(const char* image) {
  const auto flags = read_at<std::uint32_t>(image, 48);
  return static_cast<unsigned char>(image[7]) == cuda_13_abi ? static_cast<int>(flags >> 8 & 0xff)
                                                             : static_cast<int>(flags & 0xff);
}

struct Section {
  std::string name;
  std::uint64_t offset;
  std::uint64_t size;
};

std::vector<Section> sections_of(const char* image) {
  std::vector<Section> sections;
  const auto table = read_at<std::uint64_t>(image, 40);
  const auto entry = read_at<std::uint16_t>(image, 58);
  const auto number = read_at<std::uint16_t>(image, 60);
  const auto names = read_at<std::uint16_t>(image, 62);
  if (table == 0 || number == 0) return sections;
  const auto name_offset = read_at<std::uint64_t>(image, table + std::size_t{names} * entry + 24);
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t at = table + i * entry;
    sections.push_back({image + name_offset + read_at<std::uint32_t>(image, at),
                        read_at<std::uint64_t>(image, at + 24),
                        read_at<std::uint64_t>(image, at + 32)});
  }
  return sections;
}

// .nv.info.NAME: parameters (0x17) and, where the launch is bound to them, threads (0x10).
void read_info(Function& function, const char* info, std::size_t size) {
  constexpr unsigned char has_size = 4;
  std::map<unsigned, std::size_t> sizes;
  for (std::size_t at = 0; at + 4 <= size;) {
    const auto format = static_cast<unsigned char>(info[at]);
    const auto attribute = static_cast<unsigned char>(info[at + 1]);
    if (format != has_size) {
      at += 4;
      continue;
    }
    const char* value = info + at + 4;
    if (attribute == 0x17) {
      sizes[read_at<std::uint16_t>(value, 4)] = read_at<std::uint32_t>(value, 8) >> 18 & 0x3fff;
    } else if (attribute == 0x10) {
      function.threads = static_cast<int>(read_at<std::uint32_t>(value, 0));
    }
    at += 4u + read_at<std::uint16_t>(info, at + 2);
  }
  for (const auto& [ordinal, bytes] : sizes) function.parameters.push_back({bytes});
}

void find_machine_entries(Module& module, const char* image) {
  const auto sections = sections_of(image);
  const std::string text = ".text.";
  for (const Section& section : sections) {
    if (section.name.compare(0, text.size(), text) != 0) continue;
    auto function = std::make_unique<Function>();
    function->module = &module;
    function->name = section.name.substr(text.size());
    for (const Section& info : sections) {
      if (info.name == ".nv.info." + function->name) {
        read_info(*function, image + info.offset, info.size);
      }
    }
    module.functions.push_back(std::move(function));
  }
}

int load_machine_code(Module& module, const char* image) {
  constexpr std::uint16_t cuda_machine = 190;
  const auto abi = static_cast<unsigned char>(image[7]);
  if (image[4] != 2 || read_at<std::uint16_t>(image, 18) != cuda_machine) return invalid_image;
  if (abi != cuda_12_abi && abi != cuda_13_abi) return invalid_image;
  // A driver cannot read what a newer CUDA made.
  if (abi == cuda_13_abi && driver_version() < 13000) return invalid_image;
  if (sections_of(image).empty()) return invalid_image;
  const int chip = chip_of(image);
  const int capability = capability_of(module.device);
  int integrated = 0;
  attribute_of(18, module.device, &integrated);
  const bool compatible = integrated == 0 && chip / 10 == capability / 10 && chip < capability;
  if (chip != capability && !compatible) return no_binary;
  find_machine_entries(module, image);
  note("machine code " + std::to_string(chip));
  count("machine code");
  return success;
}

// --- PTX
// ------------------------------------------------------------------------------------------

// The value of "<word> <a>.<b>" or "<word> sm_<ab>" as ab; -1 when it is not there.
int directive(const std::string& text, const std::string& word) {
  const auto at = text.find("\n" + word + " ");
  if (at == std::string::npos) return -1;
  int value = 0;
  bool any = false;
  for (std::size_t i = at + word.size() + 2; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] < '0' || text[i] > '9') continue;
    value = value * 10 + (text[i] - '0');
    any = true;
  }
  return any ? value : -1;
}

// The lowest PTX version that may name a chip.
int floor_of(int chip) {
  const std::map<int, int> floors = {{72, 61},  {75, 63},  {80, 70},  {86, 71},
                                     {87, 74},  {89, 78},  {90, 78},  {100, 86},
                                     {103, 88}, {110, 90}, {120, 87}, {121, 88}};
  const auto found = floors.find(chip);
  return found == floors.end() ? 0 : found->second;
}

std::size_t size_of_type(const std::string& type) {
  const auto digits = type.find_first_of("0123456789");
  const int bits = digits == std::string::npos ? 64 : std::atoi(type.c_str() + digits);
  return static_cast<std::size_t>(std::max(8, bits)) / 8;
}

void find_ptx_entries(Module& module, const std::string& text) {
  const std::string word = ".entry ";
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    auto function = std::make_unique<Function>();
    function->module = &module;
    std::size_t end = at + word.size();
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                 text[end] == '_' || text[end] == '$')) {
      ++end;
    }
    function->name = text.substr(at + word.size(), end - at - word.size());
    const std::size_t body = std::min(text.find('{', end), text.size());
    const std::string head = text.substr(end, body - end);
    const std::string parameter = ".param ";
    for (auto p = head.find(parameter); p != std::string::npos; p = head.find(parameter, p + 1)) {
      const std::size_t type = p + parameter.size();
      function->parameters.push_back(
          {size_of_type(head.substr(type, head.find_first_of(" ,)", type) - type))});
    }
    const auto threads = head.find(".reqntid ");
    if (threads != std::string::npos) function->threads = std::atoi(head.c_str() + threads + 9);
    module.functions.push_back(std::move(function));
  }
}

int say(char* log, const std::string& text, int code) {
  if (log != nullptr) std::snprintf(log, 512, "%s", text.c_str());
  return code;
}

int load_ptx(Module& module, const std::string& text, char* log) {
  if (number("CUDA_DISABLE_PTX_JIT", 0) == 1) return jit_disabled;
  const int version = directive("\n" + text, ".version");
  const int target = directive("\n" + text, ".target");
  const int ceiling = ptx_ceiling();
  if (version < 0 || target < 0) {
    return say(log, "Parsing error near '': syntax error", invalid_ptx);
  }
  if (version > ceiling) {
    return say(
        log,
        "Unsupported .version " + words(version) + "; current version is '" + words(ceiling) + "'",
        unsupported_ptx_version);
  }
  if (version < floor_of(target)) {
    return say(
        log,
        "PTX .version " + words(version) + " does not support .target sm_" + std::to_string(target),
        invalid_ptx);
  }
  if (target > capability_of(module.device)) {
    return say(log, "SM version specified by .target is higher than default SM version assumed",
               invalid_ptx);
  }
  find_ptx_entries(module, text);
  note("ptx " + std::to_string(target));
  count("ptx");
  return success;
}

// --- CPU code that plays a kernel
// -----------------------------------------------------------------

bool begins_with(const fs::path& file, const std::string& code) {
  std::ifstream in(file, std::ios::binary);
  std::string start(code.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in.gcount() == static_cast<std::streamsize>(code.size()) && start == code;
}

// In a cache: the shared object beside the file that this code was read from.
fs::path twin_of(const fs::path& cache, const std::string& code) {
  std::error_code failure;
  for (const auto& entry : fs::recursive_directory_iterator(cache, failure)) {
    const auto extension = entry.path().extension();
    if (extension != ".cubin" && extension != ".ptx") continue;
    if (!begins_with(entry.path(), code)) continue;
    for (const auto& beside : fs::directory_iterator(entry.path().parent_path())) {
      if (beside.path().extension() == ".so") return beside.path();
    }
  }
  return {};
}

void find_code(Module& module) {
  const std::string where = variable("FAKE_CUDA_CODE");
  if (where.empty()) return;
  const fs::path file = fs::is_directory(where) ? twin_of(where, module.code) : fs::path(where);
  if (file.empty()) return;
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  for (const auto& function : module.functions) {
    void* symbol = ::dlsym(handle, function->name.c_str());
    static_assert(sizeof symbol == sizeof function->code);
    std::memcpy(&function->code, &symbol, sizeof symbol);
  }
}

// How long an image is: an ELF file ends with its section or its program headers.
std::size_t size_of_image(const char* image) {
  std::size_t end = 64;
  end = std::max<std::size_t>(
      end, read_at<std::uint64_t>(image, 40) +
               std::size_t{read_at<std::uint16_t>(image, 58)} * read_at<std::uint16_t>(image, 60));
  end = std::max<std::size_t>(
      end, read_at<std::uint64_t>(image, 32) +
               std::size_t{read_at<std::uint16_t>(image, 54)} * read_at<std::uint16_t>(image, 56));
  return end;
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT int cuModuleLoadDataEx(void** result, const void* image, unsigned options, int* keys,
                                   void** values) {
  FAKE_CONTEXT_CALL(cuModuleLoadDataEx);
  constexpr int error_log_buffer = 5;
  char* log = nullptr;
  for (unsigned i = 0; i < options; ++i) {
    if (keys[i] == error_log_buffer) log = static_cast<char*>(values[i]);
  }
  const char* bytes = static_cast<const char*>(image);
  auto module = std::make_unique<Module>();
  module->device = current()->device;
  const bool elf = std::memcmp(bytes,
                               "\x7f"
                               "ELF",
                               4) == 0;
  if (*bytes == '\0') {
    return say(log, "Binary format for key='0', ident='' is not recognized", invalid_image);
  }
  const int refused = elf ? load_machine_code(*module, bytes) : load_ptx(*module, bytes, log);
  if (refused != success) return refused;
  module->code = elf ? std::string(bytes, size_of_image(bytes)) : std::string(bytes);
  find_code(*module);
  live("module", 1);
  Module* key = module.get();
  modules()[key] = std::move(module);
  *result = key;
  return success;
}
FAKE_EXPORT int cuModuleUnload(void* module) {
  FAKE_CONTEXT_CALL(cuModuleUnload);
  drain(current());
  if (modules().erase(static_cast<Module*>(module)) == 0) return invalid_handle;
  live("module", -1);
  return success;
}
FAKE_EXPORT int cuModuleGetFunction(void** result, void* module, const char* name) {
  FAKE_CONTEXT_CALL(cuModuleGetFunction);
  for (const auto& function : static_cast<Module*>(module)->functions) {
    if (function->name == name) return *result = function.get(), success;
  }
  return not_found;
}
FAKE_EXPORT int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  FAKE_CONTEXT_CALL(cuFuncGetAttribute);
  const auto& function = *static_cast<Function*>(handle);
  switch (attribute) {
    case 0:
      *value = static_cast<int>(number("FAKE_CUDA_MAX_THREADS", function.max_threads));
      return success;
    case 1:
      *value = static_shared();
      return success;
    case 4:
      *value = function.registers;
      return success;
    default:
      return invalid_value;
  }
}
FAKE_EXPORT int cuFuncSetAttribute(void* handle, int attribute, int value) {
  FAKE_CONTEXT_CALL(cuFuncSetAttribute);
  constexpr int max_dynamic_shared = 8;
  auto& function = *static_cast<Function*>(handle);
  int most = 0;
  attribute_of(97, function.module->device, &most);
  if (attribute != max_dynamic_shared || value < 0 || value + static_shared() > most) {
    return invalid_value;
  }
  function.shared = value;
  note("shared " + std::to_string(value));
  return success;
}

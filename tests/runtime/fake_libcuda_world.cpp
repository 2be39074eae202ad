// What machine and driver are played, which calls fail, what is counted and reported.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include "fake_libcuda.hpp"

namespace fake {

namespace {

void append(const std::string& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  [[maybe_unused]] const auto written = ::write(descriptor, text.data(), text.size());
  ::close(descriptor);
}

// Never destroyed: the report is written after main.
struct World {
  std::recursive_mutex lock;
  bool initialized = false;
  std::map<std::string, long long> calls;
  std::map<std::string, long long> counts;
  std::map<std::string, long long> alive;
};
World& world() {
  static World& one = *new World;
  return one;
}

// "name=value,name=value": f(name, value).
template <class F>
void each_pair(const std::string& text, F f) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equal = text.find('=', at);
    if (equal < end) {
      f(text.substr(at, equal - at), std::atoll(text.substr(equal + 1, end - equal - 1).c_str()));
    }
    at = end + 1;
  }
}

struct Opened {
  Opened() { note("opened"); }
} opened;

__attribute__((destructor)) void report() {
  const std::string file = variable("FAKE_CUDA_REPORT");
  if (file.empty()) return;
  std::string text;
  for (const auto& [name, times] : world().calls) {
    text += "call " + name + " " + std::to_string(times) + "\n";
  }
  for (const auto& [what, times] : world().counts) {
    text += "count " + what + " " + std::to_string(times) + "\n";
  }
  for (const auto& [kind, number] : world().alive) {
    text += "live " + kind + " " + std::to_string(number) + "\n";
  }
  append(file, text);
}

}  // namespace

std::recursive_mutex& lock() { return world().lock; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

long long number(const char* name, long long otherwise) {
  const std::string value = variable(name);
  return value.empty() ? otherwise : std::atoll(value.c_str());
}

void note(const std::string& line) {
  const std::string file = variable("FAKE_CUDA_LOG");
  if (!file.empty()) append(file, line + "\n");
}

int begin_call(const char* name) {
  const long long times = ++world().calls[name];
  int result = success;
  each_pair(variable("FAKE_CUDA_FAIL"), [&](const std::string& which, long long code) {
    const std::size_t colon = which.find(':');
    if (which.substr(0, colon) != name) return;
    if (colon != std::string::npos && std::atoll(which.c_str() + colon + 1) != times) return;
    result = static_cast<int>(code);
  });
  return result;
}

bool initialized() { return world().initialized; }
void set_initialized() { world().initialized = true; }

int static_shared() { return static_cast<int>(number("FAKE_CUDA_STATIC_SHARED", 0)); }
int driver_version() { return static_cast<int>(number("FAKE_CUDA_DRIVER", 12060)); }

int ptx_ceiling() {
  struct Row {
    int driver;
    int ptx;
  };
  constexpr Row rows[] = {{11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78},
                          {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84},
                          {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90},
                          {13010, 91}, {13020, 92}};
  int ceiling = 0;
  for (const Row& row : rows) {
    if (row.driver <= driver_version()) ceiling = row.ptx;
  }
  return ceiling;
}

int device_count() { return static_cast<int>(number("FAKE_CUDA_DEVICES", 1)); }

int capability_of(int device) {
  const std::string list = variable("FAKE_CUDA_CAPABILITY");
  int found = 87;
  std::size_t at = 0;
  for (int i = 0; i <= device && at < list.size(); ++i) {
    found = std::atoi(list.c_str() + at);
    const std::size_t comma = list.find(',', at);
    at = comma == std::string::npos ? list.size() : comma + 1;
  }
  return found;
}

int attribute_of(int attribute, int device, int* value) {
  const int capability = capability_of(device);
  const bool integrated = capability == 72 || capability == 87 || capability == 110;
  const auto shared_kib = [&] {
    switch (capability) {
      case 72:
        return 96;
      case 75:
        return 64;
      case 80:
      case 87:
        return 163;
      case 86:
      case 89:
      case 120:
      case 121:
        return 99;
      default:
        return 227;
    }
  };
  const std::map<int, int> usual = {
      {1, 1024},        // threads of a block
      {5, 2147483647},  // grid
      {6, 65535},
      {7, 65535},
      {16, integrated ? 8 : 132},  // multiprocessors
      {18, integrated ? 1 : 0},
      {19, 1},  // maps host memory
      {41, 1},  // unified addressing
      {75, capability / 10},
      {76, capability % 10},
      {83, 1},                   // managed memory
      {89, integrated ? 0 : 1},  // concurrent managed access
      {97, shared_kib() * 1024},
      {99, 1},   // registers host memory
      {115, 1},  // memory pools
  };
  const auto known = usual.find(attribute);
  if (known == usual.end()) return invalid_value;
  *value = known->second;
  each_pair(variable("FAKE_CUDA_ATTRIBUTES"), [&](const std::string& which, long long told) {
    if (std::atoi(which.c_str()) == attribute) *value = static_cast<int>(told);
  });
  return success;
}

void count(const std::string& what) { ++world().counts[what]; }
void live(const std::string& kind, long long change) { world().alive[kind] += change; }
long long live_now(const std::string& kind) { return world().alive[kind]; }

}  // namespace fake

// For tests in this process.
FAKE_EXPORT long long fake_cuda_calls(const char* name) {
  const std::lock_guard<std::recursive_mutex> held(fake::lock());
  return fake::world().calls[name];
}
FAKE_EXPORT long long fake_cuda_live(const char* kind) {
  const std::lock_guard<std::recursive_mutex> held(fake::lock());
  return fake::live_now(kind);
}
FAKE_EXPORT long long fake_cuda_count(const char* what) {
  const std::lock_guard<std::recursive_mutex> held(fake::lock());
  return fake::world().counts[what];
}
/// For the next test: whole contexts, nothing counted. What is alive from before is not told again.
FAKE_EXPORT void fake_cuda_reset() {
  const std::lock_guard<std::recursive_mutex> held(fake::lock());
  for (int device = 0; device < 8; ++device) fake::context_of(device)->error = fake::success;
  fake::world().calls.clear();
  fake::world().counts.clear();
  fake::world().alive.clear();
}

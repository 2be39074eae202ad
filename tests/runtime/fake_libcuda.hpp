#pragma once

// A CUDA driver for tests: it answers as a real one does (measured on an H200 with driver 580)
// about what it loads and what it refuses, keeps every promise about order, and reports what was
// left behind. Device memory is host memory; a kernel runs by its CPU code, where that is given.
//
// What it is, from the environment, read anew at each call:
//   FAKE_CUDA_DEVICES      how many devices (1)
//   FAKE_CUDA_CAPABILITY   of each, "87" or "90,87"; the last one stands for the rest (87)
//   FAKE_CUDA_DRIVER       as cuDriverGetVersion says it (12060)
//   FAKE_CUDA_ATTRIBUTES   "115=0,18=0": CUdevice_attribute values that are not the chip's usual
//   FAKE_CUDA_MEMORY       bytes of each device (4294967296)
//   FAKE_CUDA_STATIC_SHARED  bytes of shared memory that every function has besides
//   FAKE_CUDA_CODE         CPU code of kernels: a shared object, or a cache directory with cpu.*.so
//                          beside the code that was loaded; without it kernels do nothing
//   FAKE_CUDA_EAGER        1: work is done when asked for; else as late as the promises allow, so
//                          that a wait which is missing shows every time
//   FAKE_CUDA_FAIL         "cuMemAlloc_v2:3=2,cuLaunchKernel=700": the third call, or every call
//   FAKE_CUDA_FAULT        "Scale=700": running kernel Scale breaks the context with that code
// What it tells:
//   FAKE_CUDA_LOG          a file that gets a line for each load, launch and other events
//   FAKE_CUDA_REPORT       a file written at the end: calls counted, what is still alive

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fake {

enum : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary = 209,
  invalid_ptx = 218,
  unsupported_ptx_version = 222,
  jit_disabled = 223,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  launch_failure = 719,
  not_permitted = 800,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
};

// ------------------------------------------------------------------------- fake_libcuda_world.cpp

/// Every call holds this: the driver is thread-safe, and what it plays is one thing at a time.
std::recursive_mutex& lock();
std::string variable(const char* name);
long long number(const char* name, long long otherwise);
void note(const std::string& line);

/// Counts a call; what it is told to fail with, or 0.
int begin_call(const char* name);
bool initialized();
void set_initialized();

int driver_version();
int static_shared();  ///< of every function
/// Highest PTX version that this driver takes, 85 for 8.5.
int ptx_ceiling();
int device_count();
int capability_of(int device);
int attribute_of(int attribute, int device, int* value);

/// A line in the report that counts up: loads, launches.
void count(const std::string& what);
/// What has been made and not destroyed yet.
void live(const std::string& kind, long long change);
long long live_now(const std::string& kind);

// --------------------------------------------------------------------------- fake_libcuda_loading

struct Parameter {
  std::size_t size;
};
struct Module;
struct Function {
  Module* module;
  std::string name;
  std::vector<Parameter> parameters;
  int threads = 0;  ///< of .reqntid; 0: any
  int max_threads = 1024;
  int registers = 32;
  std::optional<int> shared;  ///< dynamic, where more than without asking was allowed
  /// Launch ABI 1 of ir/kernel.hpp; null: the kernel does nothing.
  void (*code)(const void* const*, const std::uint32_t*, const std::uint32_t*, void*) = nullptr;
};
struct Module {
  int device;
  std::string code;
  std::vector<std::unique_ptr<Function>> functions;
};

// ---------------------------------------------------------------------------- fake_libcuda_memory

enum class Kind { device, pool, managed, host, registered };
struct Allocation {
  Kind kind;
  std::uint64_t address;  ///< as the device sees it
  void* host;             ///< as the host sees it; null for device memory
  std::size_t bytes;
  int device;
};
/// The allocation that holds all of these bytes, by either address.
const Allocation* allocation_of(std::uint64_t address, std::size_t bytes);
/// Where the driver itself reaches host memory whose pages the program may have locked.
void* reachable(const void* host);
bool is_page_locked(const void* host, std::size_t bytes);

// --------------------------------------------------------------------------- fake_libcuda_streams

struct Graph;
struct Node;
struct Event;
struct Stream;

struct Context {
  int device;
  int error = success;  ///< once a kernel failed, every call fails
  std::set<Stream*> streams;
};
Context* context_of(int device);
Context*& current();

/// One thing that a stream is to do.
struct Work {
  std::function<void()> run;               ///< empty for a wait
  std::shared_ptr<Event> event = nullptr;  ///< waits for it to be recorded …
  std::uint64_t version = 0;               ///< … for the time of this number
};

struct Stream {
  Context* context;
  bool blocking;  ///< keeps order with the legacy stream
  std::deque<Work> work;
  // While it is being captured:
  std::shared_ptr<Graph> graph;
  bool origin = false;
  bool broken = false;      ///< a call that may not be captured was made
  std::vector<Node*> last;  ///< what the next node depends on
};

struct Event {
  Context* context;
  std::uint64_t recorded = 0;  ///< how often it was asked for
  std::uint64_t reached = 0;   ///< how often that came true
  Stream* stream = nullptr;    ///< the one that will
  double time = 0;
  std::shared_ptr<Graph> graph;  ///< recorded in a capture
  std::vector<Node*> nodes;

  explicit Event(Context* where) : context(where) {}
};

/// The stream a handle means: null is the context's legacy stream. Null when it is none of ours.
Stream* stream_of(void* handle);
/// Adds work, or does it at once, or captures it.
void ask(Stream* stream, std::function<void()> run, const std::string& kind);
void drain(Stream* stream);
void drain(Context* context);
/// Done everything?
bool is_idle(const Stream* stream);

struct Launch {
  Function* function;
  std::uint32_t grid[3];
  std::uint32_t threads;
  std::uint32_t shared;
  std::vector<std::vector<unsigned char>> arguments;
};
/// What a launch must be before it is taken: 0 or the code.
int check_launch(const Function& function, const unsigned* grid, const unsigned* block,
                 unsigned shared, void** parameters);
Launch make_launch(Function& function, const unsigned* grid, const unsigned* block, unsigned shared,
                   void** parameters);
void run(Launch& launch);

// ---------------------------------------------------------------------------- fake_libcuda_graphs

struct Node {
  std::function<void()> run;  ///< copies and the like
  std::shared_ptr<Launch> launch;
  std::vector<Node*> after;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::set<Stream*> streams;  ///< that capture into it
};
/// The node a stream's capture gets for this work.
void capture(Stream* stream, std::function<void()> run, std::shared_ptr<Launch> launch);

/// Begins an exported function: counts it, fails where it is told to, and, for those that need a
/// context, where there is none or it is broken.
#define FAKE_CALL(name)                                                \
  const std::lock_guard<std::recursive_mutex> fake_lock(fake::lock()); \
  if (const int told = fake::begin_call(#name)) return told

#define FAKE_CONTEXT_CALL(name)                                 \
  FAKE_CALL(name);                                              \
  if (!fake::initialized()) return fake::not_initialized;       \
  if (fake::current() == nullptr) return fake::invalid_context; \
  if (fake::current()->error != fake::success) return fake::current()->error

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

}  // namespace fake

#pragma GCC diagnostic ignored "-Wmissing-declarations"

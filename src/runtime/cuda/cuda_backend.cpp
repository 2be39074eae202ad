#include <array>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "../backend.hpp"
#include "driver.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/choose.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

using cuda::DeviceAttribute;
using cuda::Driver;

// What a block has without asking; more must be allowed for each function.
constexpr std::uint64_t plain_shared_bytes = 48 * 1024;
constexpr std::size_t log_bytes = 16 * 1024;

class CudaKernel : public LoadedKernel {
 public:
  CudaKernel(ArtifactInfo info, cuda::Module module, cuda::Function function)
      : LoadedKernel(std::move(info)), module_(module), function_(function) {}
  [[nodiscard]] cuda::Function function() const noexcept { return function_; }
  [[nodiscard]] cuda::Module module() const noexcept { return module_; }

 private:
  cuda::Module module_;  // unloaded with the device's context
  cuda::Function function_;
};

std::string one_decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

// The driver's log, indented below a message; empty when it said nothing.
std::string said(const std::string& log) {
  const std::string_view text = trim(std::string_view(log.c_str()));
  return text.empty() ? std::string() : "\nthe driver said: " + std::string(text);
}

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(int ordinal) : driver_(Driver::instance()), ordinal_(ordinal) {
    int count = 0;
    driver_.check(driver_.device_count(&count), "cannot count the CUDA devices");
    if (ordinal < 0 || ordinal >= count) {
      throw Error(ErrorKind::usage,
                  "device cuda:" + std::to_string(ordinal) +
                      ": wanted a CUDA device of that number, "
                      "found " +
                      std::to_string(count) + (count == 1 ? " device" : " devices"),
                  count == 0 ? "run on the CPU (--on cpu)"
                             : "devices are cuda:0 to cuda:" + std::to_string(count - 1));
    }
    driver_.check(driver_.device_get(&device_, ordinal), "cannot open device " + name());
    std::array<char, 256> text{};
    driver_.check(driver_.device_name(text.data(), static_cast<int>(text.size()) - 1, device_),
                  "cannot ask the name of device " + name());
    chip_ = text.data();
    int version = 0;
    driver_.check(driver_.driver_version(&version), "cannot ask the version of the CUDA driver");
    facts_.capability = Capability(attribute(DeviceAttribute::capability_major),
                                   attribute(DeviceAttribute::capability_minor));
    facts_.driver = DriverVersion::from_cuda(version);
    facts_.integrated = attribute(DeviceAttribute::integrated) != 0;
    shared_limit_ =
        static_cast<std::uint64_t>(attribute(DeviceAttribute::max_shared_per_block_optin));
    driver_.check(driver_.context_retain(&context_, device_),
                  "cannot make a context on device " + name());
    enter();
    // A stream that waits for, and is waited for by, the plain copies.
    constexpr unsigned blocking = 0;
    const cuda::Result made = driver_.stream_create(&stream_, blocking);
    if (made != 0) driver_.context_release(device_);
    driver_.check(made, "cannot make a stream on device " + name());
  }

  ~CudaBackend() override {
    if (driver_.context_set(context_) == 0) driver_.stream_destroy(stream_);
    driver_.context_release(device_);
  }

  [[nodiscard]] DeviceKind kind() const override { return DeviceKind::cuda; }
  [[nodiscard]] std::string name() const override { return "cuda:" + std::to_string(ordinal_); }
  [[nodiscard]] std::string description() const override {
    return chip_ + ", " + facts_.capability.name() + ", driver " + facts_.driver.name();
  }
  [[nodiscard]] std::optional<DeviceFacts> facts() const override { return facts_; }

  [[nodiscard]] Target compile_target() const override {
    // The newest known capability whose PTX this device loads: its own, where the table has it.
    const CapabilityInfo* best = nullptr;
    for (const CapabilityInfo& info : known_capabilities()) {
      if (info.capability.suffix() != Capability::Suffix::none) continue;
      if (fit_ptx(facts_, info.capability, info.ptx_floor) == Fit::no) continue;
      if (best == nullptr || best->capability.number() < info.capability.number()) best = &info;
    }
    if (best == nullptr) {
      throw Error(ErrorKind::board,
                  "wanted a device that loads code of " +
                      known_capabilities().front().capability.name() + " or later, found " +
                      description(),
                  "use a newer device or driver, or run on the CPU (--on cpu)");
    }
    return Target(best->capability);
  }

  [[nodiscard]] Artifact choose(const std::string& kernel, const std::vector<fs::path>& candidates,
                                const std::string& where) const override {
    return choose_for_cuda(kernel, candidates, where, facts_);
  }

  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Artifact& artifact,
                                                   const fs::path& path) override {
    const ArtifactInfo& info = artifact.info;
    if (info.shared_bytes > shared_limit_) {
      throw Error(ErrorKind::board,
                  "kernel " + info.kernel + ": wanted " + std::to_string(info.shared_bytes) +
                      " bytes of shared memory a block, device " + name() + " has " +
                      std::to_string(shared_limit_),
                  "use smaller tiles");
    }
    enter();
    const auto began = std::chrono::steady_clock::now();
    const cuda::Module module = load_module(artifact, path);
    const double milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    if (info.kind == ArtifactKind::ptx) note_jit(info, milliseconds);
    cuda::Function function = nullptr;
    const cuda::Result found = driver_.module_function(&function, module, info.kernel.c_str());
    if (found != 0) {
      driver_.module_unload(module);
      throw Error(ErrorKind::input,
                  path.string() + ": wanted the entry " + info.kernel +
                      ", found none: " + driver_.describe(found),
                  "remove the file and compile the kernel again");
    }
    if (info.shared_bytes > plain_shared_bytes) {
      driver_.check(driver_.function_set(
                        function, static_cast<int>(cuda::FunctionAttribute::max_dynamic_shared),
                        static_cast<int>(info.shared_bytes)),
                    "cannot allow kernel " + info.kernel + " " + std::to_string(info.shared_bytes) +
                        " bytes of shared memory");
    }
    return std::make_unique<CudaKernel>(info, module, function);
  }

  void launch(LoadedKernel& kernel, const Grid& grid, void* const* values) override {
    enter();
    const auto& loaded = static_cast<CudaKernel&>(kernel);
    const ArtifactInfo& info = kernel.info();
    const cuda::Result result = driver_.launch(
        loaded.function(), static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
        static_cast<unsigned>(grid.z), static_cast<unsigned>(info.threads), 1, 1,
        static_cast<unsigned>(info.shared_bytes), stream_, const_cast<void**>(values), nullptr);
    if (result == 0) return;
    // The driver gives one code for most mistakes: say what was asked of it.
    throw Error(ErrorKind::environment,
                "cannot launch kernel " + info.kernel + " on " + name() + " (grid " +
                    std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
                    std::to_string(grid.z) + ", " + std::to_string(info.threads) + " threads, " +
                    std::to_string(info.shared_bytes) + " bytes of shared memory, code for " +
                    runs_on(info) + "): " + driver_.describe(result));
  }

  [[nodiscard]] u64 allocate(std::size_t bytes) override {
    if (bytes == 0) return 0;
    enter();
    cuda::DevicePointer address = 0;
    driver_.check(driver_.memory_allocate(&address, bytes),
                  "wanted " + std::to_string(bytes) + " bytes of memory on device " + name());
    return address;
  }
  void release(u64 address) noexcept override {
    if (address == 0 || driver_.context_set(context_) != 0) return;
    driver_.memory_free(address);  // waits for the work that uses it
  }
  void copy_in(u64 to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    enter();
    driver_.check(driver_.copy_in(to, from, bytes), copying(bytes, "to"));
  }
  void copy_out(void* to, u64 from, std::size_t bytes) override {
    if (bytes == 0) return;
    synchronize();  // what went wrong in a launch is told as that, not as a failing copy
    driver_.check(driver_.copy_out(to, from, bytes), copying(bytes, "from"));
  }
  void copy(u64 to, u64 from, std::size_t bytes) override {
    if (bytes == 0) return;
    enter();
    driver_.check(driver_.copy_async(to, from, bytes, stream_), copying(bytes, "within"));
  }
  void fill(u64 to, u8 value, std::size_t bytes) override {
    if (bytes == 0) return;
    enter();
    driver_.check(driver_.fill_async(to, value, bytes, stream_), copying(bytes, "within"));
  }
  void synchronize() override {
    enter();
    const cuda::Result result = driver_.stream_synchronize(stream_);
    if (result == 0) return;
    throw Error(ErrorKind::environment,
                "a kernel or copy that was asked of device " + name() +
                    " earlier failed: " + driver_.describe(result),
                "run it on the CPU (--on cpu), or under compute-sanitizer, to see which");
  }

 private:
  // The context is this thread's business, and other libraries in the process may change it.
  void enter() const {
    driver_.check(driver_.context_set(context_), "cannot use the context of device " + name());
  }

  [[nodiscard]] int attribute(DeviceAttribute which) const {
    int value = 0;
    driver_.check(
        driver_.device_attribute(&value, static_cast<int>(which), device_),
        "cannot ask attribute " + std::to_string(static_cast<int>(which)) + " of device " + name());
    return value;
  }

  [[nodiscard]] std::string copying(std::size_t bytes, const char* direction) const {
    return "cannot copy " + std::to_string(bytes) + " bytes " + direction + " device " + name();
  }

  [[nodiscard]] cuda::Module load_module(const Artifact& artifact, const fs::path& path) const {
    std::string info_log(log_bytes, '\0');
    std::string error_log(log_bytes, '\0');
    // The driver takes sizes as values in place of pointers.
    std::array<int, 4> options = {static_cast<int>(cuda::JitOption::info_log),
                                  static_cast<int>(cuda::JitOption::info_log_size),
                                  static_cast<int>(cuda::JitOption::error_log),
                                  static_cast<int>(cuda::JitOption::error_log_size)};
    const auto size = reinterpret_cast<void*>(log_bytes - 1);
    std::array<void*, 4> values = {info_log.data(), size, error_log.data(), size};
    cuda::Module module = nullptr;
    const cuda::Result result =
        driver_.module_load(&module, artifact.code.c_str(), static_cast<unsigned>(options.size()),
                            options.data(), values.data());
    if (result == 0) return module;
    throw Error(
        ErrorKind::board,
        "device " + name() + " (" + description() + ") refuses " + path.string() + ", code for " +
            runs_on(artifact.info) +
            (artifact.info.ptx_version ? ", PTX " + artifact.info.ptx_version->name() : "") + ": " +
            driver_.describe(result) + said(error_log) +
            (said(error_log).empty() ? said(info_log) : ""),
        "compile kernel " + artifact.info.kernel + " for this device (capability=" +
            facts_.capability.name() + ",driver=" + facts_.driver.name() + ")");
  }

  void note_jit(const ArtifactInfo& info, double milliseconds) {
    log(LogLevel::notice, "kernel " + info.kernel + ": " + runs_on(info) + ", PTX " +
                              info.ptx_version->name() + ": the driver of " + name() +
                              " compiled it in " + one_decimal(milliseconds) + " ms");
    if (info.capability->major() >= facts_.capability.major()) return;
    std::call_once(idle_noted_, [&] {
      log(LogLevel::notice, "code for " + info.capability->name() + " on " +
                                facts_.capability.name() + ": its newer Tensor Cores stay idle");
    });
  }

  const Driver& driver_;
  int ordinal_;
  cuda::DeviceNumber device_ = 0;
  std::string chip_;
  DeviceFacts facts_{Capability(0, 0), {}, false};
  std::uint64_t shared_limit_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  std::once_flag idle_noted_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int ordinal) {
  return std::make_unique<CudaBackend>(ordinal);
}

bool cuda_answers(std::string* why) {
  try {
    const Driver& driver = Driver::instance();
    int count = 0;
    driver.check(driver.device_count(&count), "cannot count the CUDA devices");
    if (count > 0) return true;
    *why = "the CUDA driver has no device";
  } catch (const Error& error) {
    *why = error.message();
  }
  return false;
}

}  // namespace teeny::detail

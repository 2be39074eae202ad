#pragma once

#include <memory>
#include <string>

#include "../stream_state.hpp"
#include "cuda_backend.hpp"
#include "driver.hpp"

namespace teeny::detail {

class CudaEvent : public EventState {
 public:
  CudaEvent(DeviceState& device, const CudaBackend& backend, cuda::Event event)
      : EventState(device), backend_(backend), event_(event) {}
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  [[nodiscard]] bool done(std::string* failure) override;
  [[nodiscard]] std::string finish() override;
  [[nodiscard]] double since(EventState& from) override;
  [[nodiscard]] cuda::Event handle() const noexcept { return event_; }

 private:
  const CudaBackend& backend_;
  cuda::Event event_;
};

class CudaStream : public StreamState {
 public:
  /// `owned`: destroyed with the object.
  CudaStream(DeviceState& device, CudaBackend& backend, cuda::Stream stream, bool owned)
      : StreamState(device), backend_(backend), stream_(stream), owned_(owned) {}
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  [[nodiscard]] void* native() const noexcept override { return stream_; }
  [[nodiscard]] cuda::Stream handle() const noexcept { return stream_; }

  void launch(LoadedKernel& kernel, const Grid& grid, const void* const* values) override;
  void copy_in(u64 to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, u64 from, std::size_t bytes) override;
  void copy(u64 to, u64 from, std::size_t bytes) override;
  void copy_between(DeviceState& to_device, u64 to, DeviceState& from_device, u64 from,
                    std::size_t bytes) override;
  void fill(u64 to, u8 value, std::size_t bytes) override;
  void prefetch(u64 address, std::size_t bytes) override;
  [[nodiscard]] u64 allocate(std::size_t bytes) override;
  void release(u64 address) noexcept override;

  void record(EventState& event) override;
  void wait(EventState& event) override;
  [[nodiscard]] bool done(std::string* failure) override;
  [[nodiscard]] std::string finish() override;

  void begin_capture() override;
  [[nodiscard]] std::shared_ptr<GraphState> end_capture(bool wanted) override;

 private:
  void check_copy(cuda::Result result, std::size_t bytes, const char* direction) const;

  CudaBackend& backend_;
  cuda::Stream stream_;
  bool owned_;
};

}  // namespace teeny::detail

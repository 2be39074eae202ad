#include "teeny/runtime/buffer.hpp"

#include <limits>
#include <string>

#include "device_state.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

// Before the driver is asked, which would answer less clearly, or not at all until the host touches
// the memory.
void check_memory(const Backend& backend, Memory memory) {
  const DeviceAttributes& has = backend.attributes();
  const bool good =
      memory == Memory::device || (memory == Memory::mapped && has.maps_host_memory) ||
      (memory == Memory::managed && has.managed_memory && has.concurrent_managed_access);
  if (good) return;
  throw Error(ErrorKind::board,
              "wanted " + std::string(name(memory)) + " memory on device " + backend.name() +
                  ", which has no " +
                  (memory == Memory::mapped ? "way to map host memory"
                                            : "concurrent managed access: the host may not touch "
                                              "such memory while a kernel runs"),
              memory == Memory::mapped
                  ? "use device memory and copies"
                  : "use device.shared_memory(), the kind that host and kernels share best there");
}

bool guarded(const DeviceState& device, Memory memory) {
  return memory == Memory::mapped && device.guard() != nullptr;
}

}  // namespace

Allocation::Allocation(const Device& device, std::size_t bytes, Memory memory)
    : device_(&device.state()), bytes_(bytes), memory_(memory) {
  check_memory(device_->backend(), memory);
  if (bytes == 0) return;
  const bool guard = guarded(*device_, memory);
  const Block block = device_->backend().allocate(bytes, memory, guard);
  address_ = block.address;
  host_ = block.host;
  if (guard) {
    device_->guard()->add(block, bytes, device_->backend().attributes().registers_host_memory);
  }
}

Allocation::Allocation(std::shared_ptr<StreamState> stream, std::size_t bytes)
    : device_(&stream->device()), stream_(std::move(stream)), bytes_(bytes) {
  stream_->refuse_in_capture("allocate memory");
  if (bytes != 0) address_ = stream_->allocate(bytes);
}

Allocation::Allocation(const Device& device, std::size_t bytes, HostOnly)
    : device_(&device.state()), bytes_(bytes), host_only_(true) {
  if (bytes != 0) host_ = device_->backend().allocate_host(bytes);
}

void Allocation::release() noexcept {
  if (host_only_) {
    if (host_ != nullptr) device_->backend().release_host(host_);
  } else if (address_ != 0 || host_ != nullptr) {
    if (stream_ != nullptr && stream_->capturing()) {
      stream_->capture()->freed.emplace_back(stream_, address_);
      return;
    }
    if (stream_ != nullptr) {
      stream_->release(address_);
      return;
    }
    const bool guard = guarded(*device_, memory_);
    const Block block = guard ? device_->guard()->remove(host_) : Block{address_, host_};
    device_->backend().release(block, bytes_, memory_, guard);
  }
}

void* Allocation::host() const {
  if (memory_ == Memory::device && !host_only_) {
    throw Error(ErrorKind::usage,
                "wanted memory that the host can touch, found device memory of device " +
                    device_->backend().name(),
                "copy it (download), or make the buffer with device.shared_memory()");
  }
  if (guarded(*device_, memory_)) device_->guard()->check_host(host_);
  return host_;
}

StreamState& Allocation::stream() const noexcept {
  return stream_ != nullptr ? *stream_ : *device_->default_stream();
}

void check_copy_size(std::size_t wanted, std::size_t found) {
  if (wanted == found) return;
  throw Error(ErrorKind::usage, "copy of a buffer: wanted " + std::to_string(wanted) +
                                    " elements, found " + std::to_string(found));
}

void check_range(std::size_t first, std::size_t count, std::size_t size) {
  if (first <= size && count <= size - first) return;
  throw Error(ErrorKind::usage, "part of a buffer: wanted elements within its " +
                                    std::to_string(size) + ", found " + std::to_string(count) +
                                    " from number " + std::to_string(first));
}

void check_foreign(DeviceState& device, u64 address, std::size_t bytes) {
  if (bytes != 0) device.backend().check_foreign(address, bytes);
}

std::size_t buffer_bytes(std::size_t count, std::size_t element_size) {
  if (count <= std::numeric_limits<std::size_t>::max() / element_size) return count * element_size;
  throw Error(ErrorKind::usage,
              "buffer: wanted at most " +
                  std::to_string(std::numeric_limits<std::size_t>::max() / element_size) +
                  " elements, found " + std::to_string(count));
}

}  // namespace teeny::detail

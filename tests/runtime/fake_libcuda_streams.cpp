// Streams, events and launches: work in order, done as late as that order allows.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "fake_libcuda.hpp"

namespace fake {

namespace {

std::set<Stream*>& streams() {
  static auto& all = *new std::set<Stream*>;
  return all;
}

std::map<Event*, std::shared_ptr<Event>>& events() {
  static auto& all = *new std::map<Event*, std::shared_ptr<Event>>;
  return all;
}

Stream* legacy_stream(Context* context) {
  static auto& all = *new std::map<Context*, Stream*>;
  auto& stream = all[context];
  if (stream == nullptr) stream = new Stream{context, true, {}, nullptr, false, false, {}};
  return stream;
}

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void step(Stream* stream) {
  Work work = std::move(stream->work.front());
  stream->work.pop_front();
  if (work.run) {
    if (stream->context->error == success) work.run();
  } else {
    // What it waits for lies in front of it in its own stream, or in another one.
    while (work.event->reached < work.version && !work.event->stream->work.empty()) {
      step(work.event->stream);
    }
  }
}

// A stream that is being captured may not be asked how far it is.
int refuse_captured(Stream* stream) {
  if (stream->graph == nullptr) return success;
  for (Stream* one : stream->graph->streams) one->broken = true;
  return capture_unsupported;
}

}  // namespace

Stream* stream_of(void* handle) {
  if (handle == nullptr) return legacy_stream(current());
  const auto at = streams().find(static_cast<Stream*>(handle));
  return at == streams().end() ? nullptr : *at;
}

bool is_idle(const Stream* stream) {
  return streams().count(const_cast<Stream*>(stream)) == 0 || stream->work.empty();
}

void drain(Stream* stream) {
  while (!stream->work.empty()) step(stream);
}

void drain(Context* context) {
  drain(legacy_stream(context));
  for (Stream* stream : context->streams) drain(stream);
}

void ask(Stream* stream, std::function<void()> run, const std::string& kind) {
  count(kind);
  if (stream->graph != nullptr) {
    capture(stream, std::move(run), nullptr);
    return;
  }
  if (stream == legacy_stream(stream->context)) {
    for (Stream* other : stream->context->streams) {
      if (other->blocking) drain(other);
    }
    if (stream->context->error == success) run();
    return;
  }
  stream->work.push_back({std::move(run)});
  if (number("FAKE_CUDA_EAGER", 0) == 1) drain(stream);
}

int check_launch(const Function& function, const unsigned* grid, const unsigned* block,
                 unsigned shared, void** parameters) {
  const unsigned threads = block[0] * block[1] * block[2];
  int most_threads = 0;
  attribute_of(1, function.module->device, &most_threads);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0) return invalid_value;
  if (grid[1] > 65535 || grid[2] > 65535) return invalid_value;
  if (threads > static_cast<unsigned>(most_threads)) return invalid_value;
  if (function.threads != 0 && threads != static_cast<unsigned>(function.threads)) {
    return invalid_value;
  }
  constexpr int without_asking = 48 * 1024;
  if (shared > static_cast<unsigned>(function.shared.value_or(without_asking - static_shared()))) {
    return invalid_value;
  }
  // A real driver crashes here; so that it is noticed:
  if (!function.parameters.empty() && parameters == nullptr) std::abort();
  return success;
}

Launch make_launch(Function& function, const unsigned* grid, const unsigned* block, unsigned shared,
                   void** parameters) {
  Launch launch{&function, {grid[0], grid[1], grid[2]}, block[0] * block[1] * block[2], shared, {}};
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const auto* value = static_cast<const unsigned char*>(parameters[i]);
    launch.arguments.emplace_back(value, value + function.parameters[i].size);
  }
  return launch;
}

void run(Launch& launch) {
  const std::string fault = "," + variable("FAKE_CUDA_FAULT");
  const auto at = fault.find("," + launch.function->name + "=");
  Context* context = context_of(launch.function->module->device);
  if (at != std::string::npos) {
    context->error = std::atoi(fault.c_str() + at + launch.function->name.size() + 2);
    return;
  }
  if (launch.function->code == nullptr) return;
  std::vector<const void*> values;
  for (auto& argument : launch.arguments) {
    argument.resize(8);  // CPU code may read a slot as a whole
    values.push_back(argument.data());
  }
  constexpr std::size_t scratch_bytes = std::size_t{8} << 20;
  static void* scratch = std::aligned_alloc(64, scratch_bytes);
  const std::uint32_t* extents = launch.grid;
  std::uint32_t position[3];
  for (position[2] = 0; position[2] < extents[2]; ++position[2]) {
    for (position[1] = 0; position[1] < extents[1]; ++position[1]) {
      for (position[0] = 0; position[0] < extents[0]; ++position[0]) {
        launch.function->code(values.data(), position, extents, scratch);
      }
    }
  }
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT int cuLaunchKernel(void* handle, unsigned x, unsigned y, unsigned z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared,
                               void* stream_handle, void** parameters, void**) {
  FAKE_CONTEXT_CALL(cuLaunchKernel);
  auto& function = *static_cast<Function*>(handle);
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->context->device != function.module->device) return invalid_context;
  const unsigned grid[3] = {x, y, z};
  const unsigned block[3] = {block_x, block_y, block_z};
  if (const int wrong = check_launch(function, grid, block, shared, parameters)) return wrong;
  auto launch = std::make_shared<Launch>(make_launch(function, grid, block, shared, parameters));
  std::uint64_t first = 0;
  if (!launch->arguments.empty()) {
    std::memcpy(&first, launch->arguments[0].data(),
                std::min(sizeof first, launch->arguments[0].size()));
  }
  if (!variable("FAKE_CUDA_LOG").empty()) {
    note("launch " + function.name + " " + std::to_string(x) + "x" + std::to_string(y) + "x" +
         std::to_string(z) + " threads " + std::to_string(launch->threads) + " shared " +
         std::to_string(shared) + " first " + std::to_string(first));
  }
  if (stream->graph != nullptr) {
    count("captured launch");
    capture(stream, nullptr, launch);
  } else {
    ask(stream, [launch] { run(*launch); }, "launch");
  }
  return success;
}
FAKE_EXPORT int cuStreamCreate(void** result, unsigned flags) {
  FAKE_CONTEXT_CALL(cuStreamCreate);
  auto* stream = new Stream{current(), (flags & 1) == 0, {}, nullptr, false, false, {}};
  streams().insert(stream);
  current()->streams.insert(stream);
  live("stream", 1);
  return *result = stream, success;
}
FAKE_EXPORT int cuStreamDestroy_v2(void* handle) {
  FAKE_CONTEXT_CALL(cuStreamDestroy_v2);
  Stream* stream = stream_of(handle);
  if (stream == nullptr || handle == nullptr) return invalid_handle;
  drain(stream);
  stream->context->streams.erase(stream);
  streams().erase(stream);
  live("stream", -1);
  delete stream;
  return success;
}
FAKE_EXPORT int cuStreamGetCtx(void* handle, void** context) {
  FAKE_CONTEXT_CALL(cuStreamGetCtx);
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  return *context = stream->context, success;
}
FAKE_EXPORT int cuStreamQuery(void* handle) {
  FAKE_CONTEXT_CALL(cuStreamQuery);
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  if (const int refused = refuse_captured(stream)) return refused;
  if (stream->work.empty()) return stream->context->error;
  step(stream);  // so that who asks again and again gets there
  return not_ready;
}
FAKE_EXPORT int cuStreamSynchronize(void* handle) {
  FAKE_CONTEXT_CALL(cuStreamSynchronize);
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  if (const int refused = refuse_captured(stream)) return refused;
  drain(stream);
  return stream->context->error;
}
FAKE_EXPORT int cuStreamWaitEvent(void* handle, void* event_handle, unsigned) {
  FAKE_CONTEXT_CALL(cuStreamWaitEvent);
  Stream* stream = stream_of(handle);
  auto* event = static_cast<Event*>(event_handle);
  if (stream == nullptr) return invalid_handle;
  if (event->graph != nullptr && !event->graph->streams.empty()) {
    if (stream->graph != nullptr && stream->graph != event->graph) return capture_isolation;
    stream->graph = event->graph;
    stream->graph->streams.insert(stream);
    stream->last.insert(stream->last.end(), event->nodes.begin(), event->nodes.end());
    return success;
  }
  if (stream->graph != nullptr) return capture_isolation;
  if (event->recorded == 0) return success;
  stream->work.push_back({nullptr, events().at(event), event->recorded});
  if (number("FAKE_CUDA_EAGER", 0) == 1) drain(stream);
  return success;
}
FAKE_EXPORT int cuEventCreate(void** event, unsigned) {
  FAKE_CONTEXT_CALL(cuEventCreate);
  live("event", 1);
  const auto made = std::make_shared<Event>(current());
  events()[made.get()] = made;
  return *event = made.get(), success;
}
FAKE_EXPORT int cuEventDestroy_v2(void* event) {
  FAKE_CONTEXT_CALL(cuEventDestroy_v2);
  if (events().erase(static_cast<Event*>(event)) == 0) return invalid_handle;
  live("event", -1);
  return success;
}
FAKE_EXPORT int cuEventRecord(void* event_handle, void* handle) {
  FAKE_CONTEXT_CALL(cuEventRecord);
  const std::shared_ptr<Event> event = events().at(static_cast<Event*>(event_handle));
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->context != event->context) return invalid_handle;
  if (stream->graph != nullptr) {
    event->graph = stream->graph;
    event->nodes = stream->last;
    return success;
  }
  event->graph = nullptr;
  event->stream = stream;
  const std::uint64_t version = ++event->recorded;
  ask(
      stream,
      [=] {
        event->reached = version;
        event->time = now();
      },
      "record");
  return success;
}
FAKE_EXPORT int cuEventQuery(void* event_handle) {
  FAKE_CONTEXT_CALL(cuEventQuery);
  auto* event = static_cast<Event*>(event_handle);
  if (event->reached == event->recorded) return event->context->error;
  step(event->stream);
  return event->context->error != success ? event->context->error : not_ready;
}
FAKE_EXPORT int cuEventSynchronize(void* event_handle) {
  FAKE_CONTEXT_CALL(cuEventSynchronize);
  auto* event = static_cast<Event*>(event_handle);
  while (event->reached < event->recorded && !event->stream->work.empty()) step(event->stream);
  return event->context->error;
}
FAKE_EXPORT int cuEventElapsedTime(float* milliseconds, void* from_handle, void* to_handle) {
  FAKE_CONTEXT_CALL(cuEventElapsedTime);
  const auto* from = static_cast<Event*>(from_handle);
  const auto* to = static_cast<Event*>(to_handle);
  if (from->recorded == 0 || to->recorded == 0) return invalid_handle;
  if (from->reached < from->recorded || to->reached < to->recorded) return not_ready;
  *milliseconds = static_cast<float>(to->time - from->time);
  return success;
}

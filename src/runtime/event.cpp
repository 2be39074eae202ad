#include "teeny/runtime/event.hpp"

#include "device_state.hpp"

#include "teeny/base/error.hpp"

namespace teeny {

Event::Event(const Device& device) : state_(device.state().backend().make_event(device.state())) {}

Device Event::device() const { return Device(state_->device()); }

namespace {

// An event that was last recorded in a capture marks a place in a graph, and no moment.
void check_not_captured(const detail::EventState& event) {
  if (event.capture == nullptr) return;
  throw Error(ErrorKind::usage, "an event that was captured in a graph was waited for",
              "wait for the stream that the graph is launched on, or record the event there");
}

void reached(detail::EventState& event, const std::string& failure) {
  if (!failure.empty()) throw detail::earlier_failure(event.device(), failure);
  if (detail::AccessGuard* guard = event.device().guard()) guard->reached(event.progress);
}

}  // namespace

bool Event::done() const {
  if (!state_->recorded) return true;
  check_not_captured(*state_);
  std::string failure;
  const bool done = state_->done(&failure);
  if (done || !failure.empty()) reached(*state_, failure);
  return done;
}

void Event::synchronize() const {
  if (!state_->recorded) return;
  check_not_captured(*state_);
  reached(*state_, state_->finish());
}

double elapsed_ms(const Event& from, const Event& to) {
  if (from.device() != to.device()) {
    throw Error(ErrorKind::usage, "elapsed_ms: wanted two events of one device, found one of " +
                                      from.device().name() + " and one of " + to.device().name());
  }
  for (const Event* event : {&from, &to}) {
    const char* found = !event->state().recorded ? "one that was not recorded"
                        : !event->done()         ? "one that is not reached yet"
                                                 : nullptr;
    if (found == nullptr) continue;
    throw Error(ErrorKind::usage,
                std::string("elapsed_ms: wanted two events that were reached, found ") + found,
                "record both, and synchronize the later one");
  }
  return to.state().since(from.state());
}

}  // namespace teeny

#include "teeny/program.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "ahead.hpp"
#include "check.hpp"
#include "context.hpp"
#include "device_facts.hpp"
#include "flags.hpp"
#include "inspect.hpp"
#include "report.hpp"

#include "teeny/base/log.hpp"

namespace teeny {

namespace detail {

void report(const Error& error) {
  log(LogLevel::error, "error: " + error.message());
  if (!error.next().empty()) log(LogLevel::error, error.next());
}

}  // namespace detail

namespace {

// For a main that catches nothing: the message and the exit code instead of an abort.
[[noreturn]] void end_by_exception() {
  int code = 1;
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const Error& error) {
      detail::report(error);
      code = error.exit_code();
    } catch (const std::exception& error) {
      log(LogLevel::error, std::string("error: ") + error.what());
      std::abort();
    } catch (...) {
      std::abort();
    }
  } else {
    std::abort();
  }
  std::fflush(nullptr);
  std::_Exit(code);
}

[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  std::exit(code);
}

// What the flags ask for instead of a run; returns when they ask for a run.
void act(const detail::Flags& flags) {
  if (flags.help) {
    std::fputs(detail::flags_help().c_str(), stdout);
    leave(0);
  }
  const auto requests = detail::read_requests(flags.devices);
  if (flags.cache_directory) detail::set_cache_directory(*flags.cache_directory);
  if (flags.list) leave(detail::list_kernels());
  if (flags.inspect) leave(detail::inspect_kernel(*flags.inspect));
  if (flags.device_facts) leave(detail::print_device_facts());
  if (flags.check) leave(detail::check_program(flags.board));
  if (!requests.empty()) {
    detail::refuse_closed_cache(detail::cache_directory());
    leave(detail::compile_ahead(requests, detail::cache_directory(), flags.force));
  }
}

}  // namespace

Program::Program(int argc, const char* const* argv) {
  std::set_terminate(end_by_exception);
  try {
    detail::Flags flags =
        detail::take_flags(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    act(flags);
    arguments_ = std::move(flags.rest);
    const char* named = std::getenv("TEENY_DEVICE");
    if (flags.on) {
      device_name_ = *flags.on;
      Device::check_name("--on", device_name_);
    } else if (named != nullptr && *named != '\0') {
      device_name_ = named;
      Device::check_name("TEENY_DEVICE", device_name_);
    }
  } catch (const Error& error) {
    detail::report(error);
    leave(error.exit_code());
  }
}

const Device& Program::device() {
  if (device_.empty()) {
    device_.push_back(device_name_.empty() ? Device::best() : Device::open(device_name_));
  }
  return device_.front();
}

int run(int argc, const char* const* argv, const std::function<int(Program&)>& body) {
  try {
    Program program(argc, argv);
    return body(program);
  } catch (const Error& error) {
    detail::report(error);
    return error.exit_code();
  } catch (const std::exception& error) {
    log(LogLevel::error, std::string("error: ") + error.what());
    return 1;
  } catch (...) {
    log(LogLevel::error, "error: something was thrown that is no std::exception");
    return 1;
  }
}

}  // namespace teeny

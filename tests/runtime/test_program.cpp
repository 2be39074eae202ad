// A program with kernels, for tests of its flags and of packages. Its first argument says what to
// do.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "teeny/teeny.hpp"

using namespace teeny;

namespace {

// A line to TRACE_LOG: a packaged program must not trace what it has a record of.
void note_trace(const char* name) {
  const char* file = std::getenv("TRACE_LOG");
  if (file == nullptr) return;
  const int log = ::open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
  const std::string text = std::string(name) + "\n";
  [[maybe_unused]] const auto written = ::write(log, text.data(), text.size());
  ::close(log);
}

// What a kernel stores: another number makes another version of the program.
int number(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : otherwise;
}

[[maybe_unused]] const bool declares_memory = [] {
  const char* bytes = std::getenv("TEST_MEMORY_NEED");
  if (bytes != nullptr) static_cast<void>(memory_need(std::stoull(bytes)));
  return bytes != nullptr;
}();

struct Hidden {
  void operator()(Ptr<i32> out) const {
    note_trace("Hidden");
    store(out + program_id(0), full<i32>(number("TEST_HIDDEN", 8)));
  }
};

}  // namespace

struct Fill {
  void operator()(Ptr<i32> out) const {
    note_trace("Fill");
    store(out + program_id(0), full<i32>(number("TEST_FILL", 7)));
  }
};

struct Scaled {
  int factor;
  static std::vector<Scaled> variants() { return {{2}, {3}}; }
  void operator()(Ptr<i32> out) const {
    note_trace("Scaled");
    store(out + program_id(0), full<i32>(factor));
  }
};

namespace {

template <class Kernel>
int show(Program& program, const Kernel& kernel) {
  Buffer<i32> out = program.device().buffer<i32>(4);
  out.fill_bytes(0xff);
  program.device().launch(kernel, grid(4), out);
  for (const i32 value : out.to_vector()) std::printf("%d ", value);
  std::printf("\n");
  return 0;
}

int main_of(Program& program) {
  const auto& words = program.arguments();
  const std::string what = words.empty() ? "" : words.front();
  if (what == "fill") return show(program, Fill{});
  if (what == "hidden") return show(program, Hidden{});
  if (what == "scaled") return show(program, Scaled{std::stoi(words.at(1))});
  if (what == "throw a number") throw 3;
  if (what == "throw") throw Error(ErrorKind::usage, "thrown on purpose", "do not");
  if (what == "device") {
    std::printf("%s\n", program.device().name().c_str());
    return 0;
  }
  for (const std::string& word : words) std::printf("[%s]", word.c_str());
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("BARE_MAIN") != nullptr) {  // a main that catches nothing
    Program program(argc, argv);
    return main_of(program);
  }
  return teeny::run(argc, argv, main_of);
}

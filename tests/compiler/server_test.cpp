#include "compiler/server.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compiler/identity.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/process.hpp"
#include "teeny/cache/wire.hpp"
#include "teeny/ir/builder.hpp"
#include "teeny/ir/text.hpp"

namespace teeny::compiler {
namespace {

const std::string cpu_target =
    Target(CpuTarget{"x86_64-linux-gnu", "x86-64-v3", "", 2}).canonical();

std::string kernel_text(const std::string& name) {
  ir::Builder builder(name, {ir::Type::pointer_to(DType::i32)});
  builder.store(builder.parameter(0), builder.program_id(0));
  return ir::print(builder.finish());
}

/// A compiler that is none: its code is the kernel's name.
Artifact name_as_code(const ir::Kernel& kernel, const Target& target) {
  if (kernel.name == "refused") throw Error(ErrorKind::input, "no such thing", "Ask for another.");
  if (kernel.name == "broken") throw std::runtime_error("out of luck");
  Artifact artifact;
  artifact.info.kernel = kernel.name;
  artifact.info.target = target.canonical();
  artifact.code = kernel.name;
  return artifact;
}

/// An assembler that is none: its code is what it was given.
Artifact ptx_as_code(const AssembleRequest& request, std::string_view ptx) {
  Artifact artifact{request.ptx, std::string(ptx)};
  artifact.info.assembler = assembler_name(request.version);
  return artifact;
}

/// A server in a thread of this process, at the other end of a socket.
class Session {
 public:
  Session() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_ = ends[0];
    thread_ = std::thread([this, theirs = ends[1]] {
      exit_code_ = serve(theirs, theirs, name_as_code, ptx_as_code);
      ::close(theirs);
    });
  }
  ~Session() {
    if (thread_.joinable()) finish();
  }

  [[nodiscard]] int socket() const { return ours_; }
  void send(std::string_view header, std::string_view body = {}) {
    write_frame(ours_, header, body);
  }
  [[nodiscard]] std::optional<Frame> receive() { return read_frame(ours_); }
  void shake_hands() {
    const auto hello = receive();
    ASSERT_TRUE(hello.has_value());
    EXPECT_EQ(parse_hello(hello->header).identity, compiler_identity);
    send(hello_header({protocol_version, compiler_identity}));
  }
  /// Ends the input; the server's exit code.
  int finish() {
    ::shutdown(ours_, SHUT_WR);
    thread_.join();
    ::close(ours_);
    return exit_code_;
  }

 private:
  int ours_ = -1;
  int exit_code_ = -1;
  std::thread thread_;
};

TEST(Server, answers_requests_one_after_another) {
  Session session;
  session.shake_hands();
  for (const std::string name : {"first", "second"}) {
    session.send(compile_request_header(cpu_target), kernel_text(name));
    const auto reply = session.receive();
    ASSERT_TRUE(reply.has_value());
    const ArtifactInfo info = parse_reply(reply->header);
    EXPECT_EQ(info.kernel, name);
    EXPECT_EQ(info.target, cpu_target);
    EXPECT_EQ(reply->body, name);
  }
  EXPECT_EQ(session.finish(), 0);
}

TEST(Server, passes_on_what_is_to_be_assembled) {
  Session session;
  session.shake_hands();
  ArtifactInfo info;
  info.kernel = "K";
  info.capability = Capability::sm_87;
  // A path of any bytes.
  const std::string path = "/a b/\xff\n%/ptxas";
  session.send(assemble_request_header({info, path, {12, 9, 86}, std::chrono::seconds(7)}), "ptx");
  const auto reply = session.receive();
  ASSERT_TRUE(reply.has_value());
  const ArtifactInfo answer = parse_reply(reply->header);
  EXPECT_EQ(answer.kernel, "K");
  EXPECT_EQ(answer.assembler, "ptxas 12.9.86");
  EXPECT_EQ(reply->body, "ptx");
  const AssembleRequest back = parse_assemble_request(
      assemble_request_header({info, path, {12, 9, 86}, std::chrono::seconds(7)}));
  EXPECT_EQ(back.assembler, path);
  EXPECT_EQ(back.version, (AssemblerVersion{12, 9, 86}));
  EXPECT_EQ(back.limit, std::chrono::seconds(7));
  EXPECT_EQ(session.finish(), 0);
}

TEST(Server, an_end_of_input_is_a_clean_end) {
  Session before_hello;
  EXPECT_EQ(before_hello.finish(), 0);
  Session after_hello;
  after_hello.shake_hands();
  EXPECT_EQ(after_hello.finish(), 0);
}

TEST(Server, errors_are_answered_and_the_next_request_is_taken) {
  Session session;
  session.shake_hands();
  const auto error_of = [&](std::string_view header, std::string_view body) {
    session.send(header, body);
    const auto reply = session.receive();
    EXPECT_TRUE(reply.has_value());
    EXPECT_TRUE(reply->body.empty());
    try {
      static_cast<void>(parse_reply(reply->header));
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error was sent";
    return Error(ErrorKind::internal, "");
  };
  const Error refused = error_of(compile_request_header(cpu_target), kernel_text("refused"));
  EXPECT_EQ(refused.kind(), ErrorKind::input);
  EXPECT_EQ(refused.message(), "no such thing");
  EXPECT_EQ(refused.next(), "Ask for another.");
  const Error broken = error_of(compile_request_header(cpu_target), kernel_text("broken"));
  EXPECT_EQ(broken.kind(), ErrorKind::internal);
  EXPECT_NE(broken.message().find("out of luck"), std::string::npos);
  EXPECT_EQ(error_of(compile_request_header(cpu_target), "no kernel at all").kind(),
            ErrorKind::input);
  EXPECT_NE(error_of("{\"request\":\"dance\"}", "").message().find("dance"), std::string::npos);
  EXPECT_EQ(error_of("not json", "").kind(), ErrorKind::input);
  EXPECT_EQ(error_of("{\"request\":\"compile\"}", "").kind(), ErrorKind::input);
  session.send(compile_request_header(cpu_target), kernel_text("good"));
  const auto reply = session.receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(parse_reply(reply->header).kernel, "good");
  EXPECT_EQ(session.finish(), 0);
}

TEST(Server, frames_that_are_too_long_or_cut_off_end_it) {
  const std::string lengths_beyond_the_limit(frame_prefix_bytes, '\xff');
  const std::string frame = encode_frame(compile_request_header(cpu_target), "body");
  for (const std::string& bytes :
       {lengths_beyond_the_limit, frame.substr(0, 3), frame.substr(0, 20),
        frame.substr(0, frame.size() - 1), std::string("hello, is anybody there?")}) {
    Session session;
    session.shake_hands();
    write_bytes(session.socket(), bytes);
    EXPECT_EQ(session.finish(), 1);
  }
}

TEST(Server, another_protocol_or_identity_is_refused) {
  for (const Hello& hello :
       {Hello{protocol_version + 1, compiler_identity}, Hello{protocol_version, "0000"}}) {
    Session session;
    static_cast<void>(session.receive());
    session.send(hello_header(hello));
    const auto reply = session.receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_THROW(static_cast<void>(parse_reply(reply->header)), Error);
    EXPECT_EQ(session.finish(), 1);
  }
}

// --- the program itself
// ---------------------------------------------------------------------------

ProcessResult teenyc(const std::vector<std::string>& words, std::string input = {}) {
  Command command;
  command.argv = {TEENY_BUILD_DIR "/bin/teenyc"};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.input = std::move(input);
  command.timeout = std::chrono::seconds(60);
  return run(command);
}

TEST(Teenyc, usage_errors_exit_with_2_and_say_what_to_do) {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{}, Words{"--dance"}, Words{"--serve", "more"}, Words{"compile"},
        Words{"compile", "a.tir"}, Words{"compile", "a.tir", "--target"},
        Words{"compile", "a.tir", "b.tir", "--target", cpu_target, "-o", "x"},
        Words{"compile", "a.tir", "--target", "device=abacus;", "-o", "x"},
        Words{"compile", "a.tir", "--speed", "9", "--target", cpu_target, "-o", "x"}}) {
    const ProcessResult result = teenyc(words);
    EXPECT_EQ(result.exit_code, 2) << display(words);
    EXPECT_NE(result.error.find("teenyc --help"), std::string::npos) << result.error;
    EXPECT_TRUE(result.output.empty());
  }
}

TEST(Teenyc, says_what_it_is) {
  EXPECT_EQ(teenyc({"--identity"}).output, std::string(compiler_identity) + "\n");
  EXPECT_NE(teenyc({"--version"}).output.find("protocol 2"), std::string::npos);
  EXPECT_NE(teenyc({"--help"}).output.find("--serve"), std::string::npos);
}

TEST(Teenyc, serves_frames_alone_on_standard_output) {
  const std::string input = encode_frame(hello_header({protocol_version, ""}), {}) +
                            encode_frame(compile_request_header(cpu_target), kernel_text("one")) +
                            encode_frame(compile_request_header("device=abacus;"), "");
  const ProcessResult result = teenyc({"--serve"}, input);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  std::string_view rest = result.output;
  const auto next = [&] {
    const FrameSizes sizes = decode_frame_sizes(rest);
    const Frame frame{std::string(rest.substr(frame_prefix_bytes, sizes.header)),
                      std::string(rest.substr(frame_prefix_bytes + sizes.header, sizes.body))};
    rest.remove_prefix(frame_prefix_bytes + sizes.header + sizes.body);
    return frame;
  };
  EXPECT_EQ(parse_hello(next().header).identity, compiler_identity);
  const Frame reply = next();
  EXPECT_EQ(parse_reply(reply.header).kernel, "one");
  EXPECT_EQ(reply.body.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_THROW(static_cast<void>(parse_reply(next().header)), Error);
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace teeny::compiler

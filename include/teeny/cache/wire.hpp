#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "teeny/base/error.hpp"
#include "teeny/cache/artifact.hpp"
#include "teeny/target/assembler.hpp"

// How a program and teenyc talk over a pipe: frames of a u32 header length, a u64 body length (both
// little-endian), the header (JSON), the body (raw bytes). The first frame each way is a hello;
// then the client sends one request at a time and gets one reply. End of input ends teenyc.

namespace teeny {

inline constexpr int protocol_version = 2;

inline constexpr std::size_t frame_prefix_bytes = 12;
inline constexpr std::uint32_t max_frame_header = 1U << 20;
inline constexpr std::uint64_t max_frame_body = std::uint64_t{1} << 28;

struct Frame {
  std::string header;
  std::string body;
};

/// What came over the pipe is not this protocol; of kind input.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& what);
};

/// Lengths that follow a frame's prefix.
struct FrameSizes {
  std::uint32_t header = 0;
  std::uint64_t body = 0;
};

/// Error(internal) when header or body is longer than the limits above.
[[nodiscard]] std::string encode_frame(std::string_view header, std::string_view body);
/// Reads the `frame_prefix_bytes` bytes of `prefix`; ProtocolError when they are fewer or announce
/// more than the limits above.
[[nodiscard]] FrameSizes decode_frame_sizes(std::string_view prefix);

/// One frame from a file descriptor; nullopt at an end of input between frames. ProtocolError for a
/// frame that is cut off, Error(environment) for a failing read.
[[nodiscard]] std::optional<Frame> read_frame(int descriptor);
/// Error(environment) when it cannot be written, EPIPE included.
void write_frame(int descriptor, std::string_view header, std::string_view body);
/// All of `bytes` (a frame as encoded), in the same way.
void write_bytes(int descriptor, std::string_view bytes);

/// The first frame each way.
struct Hello {
  int protocol = protocol_version;
  std::string identity;  ///< teenyc's identity; the client says which one it expects
};
[[nodiscard]] std::string hello_header(const Hello& hello);
[[nodiscard]] Hello parse_hello(std::string_view header);

/// Request "compile": the body is the kernel's IR text. `target` is Target::canonical().
[[nodiscard]] std::string compile_request_header(std::string_view target);
/// The target; ProtocolError for a header that is no such request.
[[nodiscard]] std::string parse_compile_request(std::string_view header);

/// Request "assemble": the body is the PTX that `ptx` describes.
struct AssembleRequest {
  ArtifactInfo ptx;
  std::filesystem::path assembler;  ///< the program
  AssemblerVersion version;         ///< that it is known to have
  std::chrono::milliseconds limit;  ///< for its run
};
[[nodiscard]] std::string assemble_request_header(const AssembleRequest& request);
/// Error(input) for a header that is no such request.
[[nodiscard]] AssembleRequest parse_assemble_request(std::string_view header);

/// "compile" or "assemble"; Error(input) for a header that is no request.
[[nodiscard]] std::string request_name(std::string_view header);

/// A reply's header: with this information the body is the code; with an error it is empty.
[[nodiscard]] std::string reply_header(const ArtifactInfo& info);
[[nodiscard]] std::string reply_header(const Error& error);
/// The information, or throws the error that the other side sent; ProtocolError for a header that
/// is no reply.
[[nodiscard]] ArtifactInfo parse_reply(std::string_view header);

}  // namespace teeny

#include "teeny/cache/wire.hpp"

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "teeny/base/text.hpp"
#include "teeny/cache/artifact_info.hpp"

namespace teeny {
namespace {

using nlohmann::json;

void put_number(std::string& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

std::uint64_t get_number(std::string_view bytes, int count) {
  std::uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  }
  return value;
}

/// Reads until `count` bytes are there or the input ends; returns how many there were.
std::size_t read_fully(int descriptor, char* bytes, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::read(descriptor, bytes + done, count - done);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw Error(ErrorKind::environment,
                  std::string("cannot read from the pipe: ") + std::strerror(errno));
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string read_part(int descriptor, std::size_t count, const char* part) {
  std::string bytes(count, '\0');
  const std::size_t got = read_fully(descriptor, bytes.data(), count);
  if (got != count) {
    throw ProtocolError("a frame's " + std::string(part) + " ends after " + std::to_string(got) +
                        " of " + std::to_string(count) + " bytes");
  }
  return bytes;
}

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::environment:
      return "environment";
    case ErrorKind::board:
      return "board";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

ErrorKind parse_kind(const std::string& text) {
  for (const auto kind :
       {ErrorKind::usage, ErrorKind::input, ErrorKind::environment, ErrorKind::board}) {
    if (text == name(kind)) return kind;
  }
  return ErrorKind::internal;
}

json parse_header(std::string_view header) {
  json object = json::parse(header, nullptr, false);
  if (!object.is_object()) throw ProtocolError("a header that is no JSON object");
  return object;
}

template <class T>
T field(const json& object, const char* key) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    throw ProtocolError("a header without a usable field '" + std::string(key) + "'");
  }
}

json parse_request(std::string_view header, std::string_view wanted) {
  json object = parse_header(header);
  const auto request = field<std::string>(object, "request");
  if (request != wanted) throw ProtocolError("the unknown request '" + request + "'");
  return object;
}

std::string dump(const json& object) {
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

ProtocolError::ProtocolError(const std::string& what)
    : Error(ErrorKind::input, "what came over the pipe is not teenyc's protocol: " + what,
            "let TEENYC_PATH, or the teenyc beside this program, be of the same teeny") {}

std::string encode_frame(std::string_view header, std::string_view body) {
  if (header.size() > max_frame_header || body.size() > max_frame_body) {
    throw Error(ErrorKind::internal, "a message of " + std::to_string(header.size()) + " + " +
                                         std::to_string(body.size()) +
                                         " bytes is more than a frame of teenyc's protocol takes");
  }
  std::string frame;
  frame.reserve(frame_prefix_bytes + header.size() + body.size());
  put_number(frame, header.size(), 4);
  put_number(frame, body.size(), 8);
  frame.append(header).append(body);
  return frame;
}

FrameSizes decode_frame_sizes(std::string_view prefix) {
  if (prefix.size() < frame_prefix_bytes)
    throw ProtocolError("a frame that ends in its first bytes");
  const FrameSizes sizes{static_cast<std::uint32_t>(get_number(prefix, 4)),
                         get_number(prefix.substr(4), 8)};
  if (sizes.header > max_frame_header || sizes.body > max_frame_body) {
    throw ProtocolError("a frame that announces " + std::to_string(sizes.header) + " + " +
                        std::to_string(sizes.body) + " bytes, where " +
                        std::to_string(max_frame_header) + " + " + std::to_string(max_frame_body) +
                        " is the most");
  }
  return sizes;
}

std::optional<Frame> read_frame(int descriptor) {
  char prefix[frame_prefix_bytes];
  const std::size_t got = read_fully(descriptor, prefix, sizeof prefix);
  if (got == 0) return std::nullopt;
  const FrameSizes sizes = decode_frame_sizes({prefix, got});
  Frame frame;
  frame.header = read_part(descriptor, sizes.header, "header");
  frame.body = read_part(descriptor, static_cast<std::size_t>(sizes.body), "body");
  return frame;
}

void write_frame(int descriptor, std::string_view header, std::string_view body) {
  write_bytes(descriptor, encode_frame(header, body));
}

void write_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      throw Error(ErrorKind::environment,
                  std::string("cannot write to the pipe: ") + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

std::string hello_header(const Hello& hello) {
  return dump({{"protocol", hello.protocol}, {"identity", hello.identity}});
}

Hello parse_hello(std::string_view header) {
  const json object = parse_header(header);
  return {field<int>(object, "protocol"), field<std::string>(object, "identity")};
}

std::string compile_request_header(std::string_view target) {
  return dump({{"request", "compile"}, {"target", target}});
}

std::string parse_compile_request(std::string_view header) {
  return field<std::string>(parse_request(header, "compile"), "target");
}

std::string assemble_request_header(const AssembleRequest& request) {
  // A path may hold any bytes, and JSON takes only UTF-8.
  return dump({{"request", "assemble"},
               {"info", parse_header(info_to_json(request.ptx))},
               {"assembler", escape_bytes(request.assembler.native())},
               {"version", request.version.name()},
               {"limit_ms", request.limit.count()}});
}

AssembleRequest parse_assemble_request(std::string_view header) {
  const json object = parse_request(header, "assemble");
  const auto path = unescape_bytes(field<std::string>(object, "assembler"));
  const auto version = AssemblerVersion::parse(field<std::string>(object, "version"));
  if (!path || path->empty() || !version)
    throw ProtocolError("an assembler without path or version");
  return {info_from_json(field<json>(object, "info").dump()), *path, *version,
          std::chrono::milliseconds(field<std::int64_t>(object, "limit_ms"))};
}

std::string request_name(std::string_view header) {
  const auto name = field<std::string>(parse_header(header), "request");
  if (name != "compile" && name != "assemble")
    throw ProtocolError("the unknown request '" + name + "'");
  return name;
}

std::string reply_header(const ArtifactInfo& info) {
  return R"({"ok":true,"info":)" + info_to_json(info) + "}";
}

std::string reply_header(const Error& error) {
  return dump({{"ok", false},
               {"kind", name(error.kind())},
               {"message", error.message()},
               {"next", error.next()},
               {"exit_code", error.exit_code()}});
}

ArtifactInfo parse_reply(std::string_view header) {
  const json object = parse_header(header);
  if (!field<bool>(object, "ok")) {
    throw Error(parse_kind(field<std::string>(object, "kind")),
                field<std::string>(object, "message"), field<std::string>(object, "next"),
                field<int>(object, "exit_code"));
  }
  return info_from_json(field<json>(object, "info").dump());
}

}  // namespace teeny

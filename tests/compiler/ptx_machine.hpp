#pragma once

// Runs PTX without a GPU: the instructions that teenyc uses, one thread after the other between
// barriers and shuffles, in an order that can be chosen. Looks for what a GPU would only sometimes
// show: an access outside of the buffers, two threads that touch one byte without a barrier
// between, threads that do not meet at a barrier or a shuffle.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "tests/compiler/ptx_program.hpp"

#include "teeny/base/float16.hpp"

namespace teeny::compiler::testing {

/// How many instructions of all threads read or wrote global memory, and how many of them several
/// words at once.
struct GlobalAccesses {
  std::size_t all = 0;
  std::size_t vectors = 0;
  std::size_t bytes = 0;
};

class PtxMachine {
 public:
  PtxMachine(const std::string& text, std::uint64_t shared_bytes)
      : program_(text), shared_(shared_bytes) {}

  /// Memory that kernels may touch.
  void allow(const void* begin, std::size_t size) {
    const auto first = reinterpret_cast<std::uint64_t>(begin);
    allowed_.emplace_back(first, first + size);
  }

  /// Of the last run.
  [[nodiscard]] const GlobalAccesses& accesses() const { return accesses_; }

  /// One block. `arguments[i]` points at parameter i's value. `backwards`: the last thread first.
  void run(const std::vector<const void*>& arguments, const std::array<std::uint32_t, 3>& position,
           const std::array<std::uint32_t, 3>& grid, bool backwards = false) {
    if (arguments.size() != program_.parameters.size()) fail("wrong number of arguments");
    arguments_ = arguments;
    position_ = position;
    grid_ = grid;
    bytes_.clear();
    accesses_ = {};
    epoch_ = 1;
    std::fill(shared_.begin(), shared_.end(), 0xa5);
    threads_.assign(static_cast<std::size_t>(program_.threads), {});
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      threads_[i].number = static_cast<std::uint32_t>(i);
      threads_[i].registers.assign(program_.registers, 0xdeadbeefdeadbeef);
    }
    while (step(backwards)) {
    }
  }

 private:
  using Bits = std::uint64_t;
  enum class State { running, at_barrier, at_shuffle, done };
  struct Thread {
    std::uint32_t number = 0;
    std::size_t pc = 0;
    State state = State::running;
    std::vector<Bits> registers = {};
  };
  /// Who touched a byte last: the epoch (barriers so far) and the thread.
  struct Touch {
    std::uint32_t write_epoch = 0;
    std::uint32_t writer = 0;
    std::uint32_t read_epoch = 0;
    std::uint32_t reader = 0;
    bool many_readers = false;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("kernel " + program_.name + ": " + what);
  }
  [[noreturn]] void fail(const Thread& thread, const std::string& what) const {
    fail("thread " + std::to_string(thread.number) + " at `" +
         program_.instructions[thread.pc].text + "`: " + what);
  }

  bool step(bool backwards) {
    const std::size_t count = threads_.size();
    for (std::size_t i = 0; i < count; ++i) {
      Thread& thread = threads_[backwards ? count - 1 - i : i];
      while (thread.state == State::running) execute(thread);
    }
    bool moved = false;
    for (std::size_t warp = 0; warp < count; warp += 32) moved = shuffle(warp) || moved;
    if (moved) return true;
    const auto is = [this](State state) {
      return std::all_of(threads_.begin(), threads_.end(),
                         [state](const Thread& thread) { return thread.state == state; });
    };
    if (is(State::done)) return false;
    if (!is(State::at_barrier)) fail("threads wait for one another for ever");
    ++epoch_;
    for (Thread& thread : threads_) {
      ++thread.pc;
      thread.state = State::running;
    }
    return true;
  }

  bool shuffle(std::size_t warp) {
    const std::size_t pc = threads_[warp].pc;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const Thread& thread = threads_[warp + lane];
      if (thread.state != State::at_shuffle) return false;
      if (thread.pc != pc) fail(thread, "lanes of a warp are at different shuffles");
    }
    const PtxInstruction& instruction = program_.instructions[pc];
    if (instruction.op == "redux") return reduce_warp(warp, instruction);
    const bool butterfly = instruction.has("bfly");
    if (!butterfly && !instruction.has("idx")) fail(threads_[warp], "unknown shuffle");
    std::array<Bits, 32> given{};
    std::array<Bits, 32> wanted{};
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const Thread& thread = threads_[warp + lane];
      given[lane] = read(thread, instruction, 1, {'b', 32});
      const Bits which = read(thread, instruction, 2, {'u', 32});
      wanted[lane] = butterfly ? lane ^ which : which;
      if (wanted[lane] >= 32) fail(thread, "shuffles from a lane that is none");
      if (read(thread, instruction, 4, {'u', 32}) != 0xffffffff) fail(thread, "part of a warp");
    }
    for (std::size_t lane = 0; lane < 32; ++lane) {
      Thread& thread = threads_[warp + lane];
      write(thread, instruction.operands[0][0], given[wanted[lane]], {'b', 32});
      ++thread.pc;
      thread.state = State::running;
    }
    return true;
  }

  bool reduce_warp(std::size_t warp, const PtxInstruction& instruction) {
    const PtxType type = instruction.types.at(0);
    Bits total = read(threads_[warp], instruction, 1, type);
    for (std::size_t lane = 1; lane < 32; ++lane) {
      const Bits b = read(threads_[warp + lane], instruction, 1, type);
      const bool less = type.is_signed() ? as_signed(b, 32) < as_signed(total, 32) : b < total;
      if (instruction.has("add")) total += b;
      if (instruction.has("and")) total &= b;
      if (instruction.has("or")) total |= b;
      if (instruction.has("xor")) total ^= b;
      if (instruction.has("min") && less) total = b;
      if (instruction.has("max") && !less) total = b;
    }
    for (std::size_t lane = 0; lane < 32; ++lane) {
      Thread& thread = threads_[warp + lane];
      write(thread, instruction.operands[0][0], total, type);
      ++thread.pc;
      thread.state = State::running;
    }
    return true;
  }

  // --- values ---

  static Bits masked(Bits value, int bits) {
    return bits >= 64 ? value : value & ((Bits{1} << bits) - 1);
  }
  static std::int64_t as_signed(Bits value, int bits) {
    return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
  }

  Bits read(const Thread& thread, const PtxInstruction& instruction, std::size_t i,
            PtxType type) const {
    return read(thread, instruction.operands.at(i).at(0), type);
  }
  Bits read(const Thread& thread, const PtxOperand& operand, PtxType type) const {
    using Kind = PtxOperand::Kind;
    switch (operand.kind) {
      case Kind::reg:
        return masked(thread.registers[operand.index] + operand.value, type.bits);
      case Kind::immediate:
        return masked(operand.value, type.bits);
      case Kind::shared:
        return shared_base + operand.value;
      case Kind::special: {
        const std::size_t axis = static_cast<std::size_t>(operand.name.back() - 'x');
        if (operand.name.rfind("%tid", 0) == 0) return axis == 0 ? thread.number : 0;
        return operand.name.rfind("%ctaid", 0) == 0 ? position_.at(axis) : grid_.at(axis);
      }
      default:
        fail(thread, "operand that cannot be read");
    }
  }
  void write(Thread& thread, const PtxOperand& operand, Bits value, PtxType type) const {
    if (operand.kind != PtxOperand::Kind::reg) fail(thread, "operand that cannot be written");
    // A register may be wider than the type: signed values are extended.
    thread.registers[operand.index] = type.is_signed()
                                          ? static_cast<Bits>(as_signed(value, type.bits))
                                          : masked(value, type.bits);
  }

  static double to_double(Bits bits, PtxType type) {
    if (type.kind == 'n')
      return static_cast<float>(bf16::from_bits(static_cast<std::uint16_t>(bits)));
    if (type.kind == 'f') {
      if (type.bits == 16)
        return static_cast<float>(f16::from_bits(static_cast<std::uint16_t>(bits)));
      if (type.bits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return std::bit_cast<double>(bits);
    }
    if (type.is_signed()) return static_cast<double>(as_signed(bits, type.bits));
    return static_cast<double>(masked(bits, type.bits));
  }
  static Bits from_double(double value, PtxType type) {
    if (type.kind == 'n') return bf16(value).bits();
    if (type.bits == 16) return f16(value).bits();
    if (type.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::bit_cast<Bits>(value);
  }

  // --- memory ---

  static constexpr Bits shared_base = 0x100;  ///< so that no address of an element is zero

  unsigned char* locate(const Thread& thread, Bits address, int size, bool shared) {
    if (shared) {
      if (address < shared_base ||
          address + static_cast<Bits>(size) > shared_base + shared_.size()) {
        fail(thread, "outside of shared memory");
      }
      return &shared_[address - shared_base];
    }
    for (const auto& [begin, end] : allowed_) {
      if (address >= begin && address + static_cast<Bits>(size) <= end) {
        return reinterpret_cast<unsigned char*>(address);
      }
    }
    fail(thread, "outside of all buffers");
  }

  Bits load(const Thread& thread, Bits address, PtxType type, bool shared, bool constant) {
    const int size = type.bytes();
    if (address % static_cast<Bits>(size) != 0) fail(thread, "address is not aligned");
    const unsigned char* from = locate(thread, address, size, shared);
    for (int i = 0; i < size && !constant; ++i) {
      Touch& touch = bytes_[reinterpret_cast<Bits>(from) + static_cast<Bits>(i)];
      if (touch.write_epoch == epoch_ && touch.writer != thread.number) {
        fail(thread, "reads what thread " + std::to_string(touch.writer) +
                         " writes, with no barrier between");
      }
      touch.many_readers =
          touch.read_epoch == epoch_ && (touch.many_readers || touch.reader != thread.number);
      touch.read_epoch = epoch_;
      touch.reader = thread.number;
    }
    Bits value = 0;
    std::memcpy(&value, from, static_cast<std::size_t>(size));
    return value;
  }

  void store(const Thread& thread, Bits address, Bits value, PtxType type, bool shared) {
    const int size = type.bytes();
    if (address % static_cast<Bits>(size) != 0) fail(thread, "address is not aligned");
    unsigned char* to = locate(thread, address, size, shared);
    for (int i = 0; i < size; ++i) {
      Touch& touch = bytes_[reinterpret_cast<Bits>(to) + static_cast<Bits>(i)];
      const bool same = to[i] == static_cast<unsigned char>(value >> (8 * i));
      if (touch.write_epoch == epoch_ && touch.writer != thread.number && !same) {
        fail(thread, "writes something else than thread " + std::to_string(touch.writer) +
                         ", with no barrier between");
      }
      if (touch.read_epoch == epoch_ && (touch.many_readers || touch.reader != thread.number)) {
        fail(thread, "writes what thread " + std::to_string(touch.reader) +
                         " reads, with no barrier between");
      }
      touch.write_epoch = epoch_;
      touch.writer = thread.number;
    }
    std::memcpy(to, &value, static_cast<std::size_t>(size));
  }

  // --- instructions ---

  void execute(Thread& thread) {
    const PtxInstruction& instruction = program_.instructions.at(thread.pc);
    if (instruction.predicate) {
      const bool holds = (thread.registers[*instruction.predicate] & 1U) != 0;
      if (holds == instruction.negated) {
        ++thread.pc;
        return;
      }
    }
    const std::string& op = instruction.op;
    if (op == "bra") {
      thread.pc = instruction.target;
      return;
    }
    if (op == "ret") {
      thread.state = State::done;
      return;
    }
    if (op == "bar") {
      thread.state = State::at_barrier;
      return;
    }
    if (op == "shfl" || op == "redux") {
      thread.state = State::at_shuffle;
      return;
    }
    if (op == "ld" || op == "st") {
      access(thread, instruction);
    } else if (op == "mov") {
      move(thread, instruction);
    } else if (op == "cvta") {
      write(thread, instruction.operands[0][0], read(thread, instruction, 1, {'b', 64}), {'b', 64});
    } else if (op == "cvt") {
      const PtxType to = instruction.types.at(0);
      const PtxType from = instruction.types.at(1);
      write(thread, instruction.operands[0][0],
            convert(thread, instruction, read(thread, instruction, 1, from), to, from), to);
    } else if (op == "setp") {
      write(thread, instruction.operands[0][0], compare(thread, instruction), {'p', 1});
    } else if (op == "selp") {
      const bool first = read(thread, instruction, 3, {'p', 1}) != 0;
      const PtxType type = instruction.types.at(0);
      write(thread, instruction.operands[0][0], read(thread, instruction, first ? 1 : 2, type),
            type);
    } else {
      const PtxType type = instruction.types.at(0);
      const Bits result = type.is_float() ? float_result(thread, instruction, type)
                                          : int_result(thread, instruction, type);
      const bool wide = instruction.has("wide");
      write(thread, instruction.operands[0][0], result,
            wide ? PtxType{type.kind, 2 * type.bits} : type);
    }
    ++thread.pc;
  }

  void access(Thread& thread, const PtxInstruction& instruction) {
    const PtxType type = instruction.types.at(0);
    const bool is_load = instruction.op == "ld";
    const auto& values = instruction.operands.at(is_load ? 0 : 1);
    const PtxOperand& place = instruction.operands.at(is_load ? 1 : 0).at(0);
    if (instruction.has("param")) {
      Bits value = 0;
      std::memcpy(&value, arguments_.at(place.index), static_cast<std::size_t>(type.bytes()));
      return write(thread, values[0], value, type);
    }
    const bool shared = instruction.has("shared");
    if (!shared && !instruction.has("global")) fail(thread, "unknown memory");
    Bits address = read(thread, place, {'b', 64});
    if (values.size() > 1 &&
        address % (values.size() * static_cast<std::size_t>(type.bytes())) != 0) {
      fail(thread, "vector is not aligned");
    }
    if (!shared) {
      ++accesses_.all;
      accesses_.vectors += values.size() > 1;
      accesses_.bytes += values.size() * static_cast<std::size_t>(type.bytes());
    }
    for (const PtxOperand& value : values) {
      if (is_load) {
        write(thread, value, load(thread, address, type, shared, instruction.has("nc")), type);
      } else {
        store(thread, address, read(thread, value, type), type, shared);
      }
      address += static_cast<Bits>(type.bytes());
    }
  }

  void move(Thread& thread, const PtxInstruction& instruction) {
    const PtxType type = instruction.types.at(0);
    const auto& to = instruction.operands.at(0);
    const auto& from = instruction.operands.at(1);
    if (to.size() > 1) {
      const Bits value = read(thread, from[0], type);
      const int bits = type.bits / static_cast<int>(to.size());
      for (std::size_t i = 0; i < to.size(); ++i) {
        write(thread, to[i], value >> (bits * static_cast<int>(i)), {'b', bits});
      }
      return;
    }
    Bits value = 0;
    const int bits = type.bits / static_cast<int>(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      value |= read(thread, from[i], {'b', bits}) << (bits * static_cast<int>(i));
    }
    write(thread, to[0], value, type);
  }

  Bits convert(const Thread& thread, const PtxInstruction& instruction, Bits bits, PtxType to,
               PtxType from) const {
    if (!to.is_float() && !from.is_float()) {
      return from.is_signed() ? static_cast<Bits>(as_signed(bits, from.bits)) : bits;
    }
    if (from.is_float() && to.is_float()) {
      double value = to_double(bits, from);
      if (instruction.has("rmi")) value = std::floor(value);
      if (instruction.has("rpi")) value = std::ceil(value);
      if (instruction.has("rni")) value = std::nearbyint(value);
      if (instruction.has("rzi")) value = std::trunc(value);
      if (instruction.has("rz")) return std::bit_cast<std::uint32_t>(towards_zero(value));
      return from_double(value, to);
    }
    if (to.is_float()) {
      if (to.bits == 32) {
        // Straight from the integer: by way of a double it would be rounded twice.
        const std::int64_t number = as_signed(bits, from.bits);
        const float nearest = from.is_signed() ? static_cast<float>(number)
                                               : static_cast<float>(masked(bits, from.bits));
        if (!instruction.has("rz")) return std::bit_cast<std::uint32_t>(nearest);
        const auto exact = from.is_signed() ? static_cast<long double>(number)
                                            : static_cast<long double>(masked(bits, from.bits));
        const float down = std::fabs(static_cast<long double>(nearest)) > std::fabs(exact)
                               ? std::nextafter(nearest, 0.0F)
                               : nearest;
        return std::bit_cast<std::uint32_t>(down);
      }
      return from_double(to_double(bits, from), to);
    }
    if (!instruction.has("rzi")) fail(thread, "unknown rounding");
    const double value = to_double(bits, from);
    if (std::isnan(value)) {
      return from.bits == 64 || to.bits == 64 ? Bits{1} << (to.bits - 1) : 0;
    }
    const double whole = std::trunc(value);
    const double limit = std::ldexp(1.0, to.is_signed() ? to.bits - 1 : to.bits);
    const Bits highest =
        to.is_signed() ? masked(~Bits{0}, to.bits) >> 1 : masked(~Bits{0}, to.bits);
    if (whole >= limit) return highest;
    if (to.is_signed())
      return whole < -limit ? ~highest : static_cast<Bits>(static_cast<std::int64_t>(whole));
    return whole <= 0 ? 0 : static_cast<Bits>(whole);
  }

  static float towards_zero(double value) {
    const auto nearest = static_cast<float>(value);
    return std::fabs(static_cast<double>(nearest)) > std::fabs(value)
               ? std::nextafter(nearest, 0.0F)
               : nearest;
  }

  Bits compare(const Thread& thread, const PtxInstruction& instruction) const {
    const PtxType type = instruction.types.at(0);
    const std::string& how = instruction.modifiers.at(0);
    const Bits a = read(thread, instruction, 1, type);
    const Bits b = read(thread, instruction, 2, type);
    const auto holds = [&](std::string_view relation, auto x, auto y) {
      if (relation == "eq") return x == y;
      if (relation == "ne") return x != y;
      if (relation == "lt" || relation == "lo") return x < y;
      if (relation == "le" || relation == "ls") return x <= y;
      if (relation == "gt" || relation == "hi") return x > y;
      if (relation == "ge" || relation == "hs") return x >= y;
      fail(thread, "unknown comparison");
    };
    if (type.is_float()) {
      const double x = to_double(a, type);
      const double y = to_double(b, type);
      const bool unordered = std::isnan(x) || std::isnan(y);
      if (how == "num") return !unordered;
      if (how == "nan") return unordered;
      if (how.size() == 3) return unordered || holds(how.substr(0, 2), x, y);
      return !unordered && holds(how, x, y);
    }
    if (type.is_signed()) return holds(how, as_signed(a, type.bits), as_signed(b, type.bits));
    return holds(how, a, b);
  }

  Bits float_result(const Thread& thread, const PtxInstruction& instruction, PtxType type) const {
    const auto operand = [&](std::size_t i) {
      return to_double(read(thread, instruction, i, type), type);
    };
    const std::string& op = instruction.op;
    if (op == "neg") {
      return read(thread, instruction, 1, type) ^ Bits { 1 } << (type.bits - 1);
    }
    if (op == "abs") return masked(read(thread, instruction, 1, type), type.bits - 1);
    const double a = operand(1);
    if (op == "sqrt") return rounded(type, std::sqrt(a), std::sqrt(static_cast<float>(a)));
    if (op == "rcp") return rounded(type, 1 / a, 1 / static_cast<float>(a));
    const double b = operand(2);
    const auto x = static_cast<float>(a);
    const auto y = static_cast<float>(b);
    if (op == "add") return rounded(type, a + b, x + y);
    if (op == "sub") return rounded(type, a - b, x - y);
    if (op == "mul") return rounded(type, a * b, x * y);
    if (op == "div") return rounded(type, a / b, x / y);
    if (op == "fma") {
      const double c = operand(3);
      return rounded(type, std::fma(a, b, c), std::fma(x, y, static_cast<float>(c)));
    }
    if (op == "min" || op == "max") {
      const bool unordered = std::isnan(a) || std::isnan(b);
      if (instruction.has("NaN") && unordered) {
        return from_double(std::numeric_limits<double>::quiet_NaN(), type);
      }
      if (a == b) {  // of two zeros the negative one is less
        return from_double(std::signbit(a) == (op == "min") ? a : b, type);
      }
      return from_double(op == "min" ? std::fmin(a, b) : std::fmax(a, b), type);
    }
    fail(thread, "unknown operation on floats");
  }
  /// Of a result computed in both precisions, the one that is rounded once. Half types are computed
  /// in double, which is exact enough for one rounding.
  static Bits rounded(PtxType type, double wide, float narrow) {
    return type.bits == 32 ? std::bit_cast<std::uint32_t>(narrow) : from_double(wide, type);
  }

  Bits int_result(const Thread& thread, const PtxInstruction& instruction, PtxType type) const {
    const std::string& op = instruction.op;
    const int bits = type.bits;
    const bool is_signed = type.is_signed();
    const Bits a = read(thread, instruction, 1, type);
    const std::int64_t sa = as_signed(a, bits);
    if (op == "not") return ~a;
    if (op == "neg") return 0 - a;
    if (op == "abs") return sa < 0 ? 0 - a : a;
    if (op == "shl" || op == "shr") {
      const Bits amount = read(thread, instruction, 2, {'u', 32});
      if (op == "shl") return amount >= static_cast<Bits>(bits) ? 0 : a << amount;
      if (is_signed)
        return static_cast<Bits>(sa >> std::min<Bits>(amount, static_cast<Bits>(bits) - 1));
      return amount >= static_cast<Bits>(bits) ? 0 : a >> amount;
    }
    if (op == "bfe") {
      const Bits start = read(thread, instruction, 2, {'u', 32}) & 0xff;
      const auto length = static_cast<int>(read(thread, instruction, 3, {'u', 32}) & 0xff);
      const Bits field = masked(start >= 64 ? 0 : a >> start, length);
      return is_signed && length > 0 ? static_cast<Bits>(as_signed(field, length)) : field;
    }
    const Bits b = read(thread, instruction, 2, type);
    const std::int64_t sb = as_signed(b, bits);
    if (op == "add") return a + b;
    if (op == "sub") return a - b;
    if (op == "and") return a & b;
    if (op == "or") return a | b;
    if (op == "xor") return a ^ b;
    if (op == "min") return is_signed ? static_cast<Bits>(std::min(sa, sb)) : std::min(a, b);
    if (op == "max") return is_signed ? static_cast<Bits>(std::max(sa, sb)) : std::max(a, b);
    if (op == "div" || op == "rem") {
      if (b == 0) fail(thread, "division by zero");
      if (is_signed && sb == -1 && sa == as_signed(Bits{1} << (bits - 1), bits)) {
        fail(thread, "division overflows");
      }
      if (op == "div") return is_signed ? static_cast<Bits>(sa / sb) : a / b;
      return is_signed ? static_cast<Bits>(sa % sb) : a % b;
    }
    if (op == "mul" || op == "mad") {
      __extension__ using Wide = __int128;
      __extension__ using WideUnsigned = unsigned __int128;
      const Wide product =
          is_signed ? Wide{sa} * sb : static_cast<Wide>(static_cast<WideUnsigned>(a) * b);
      Bits result = static_cast<Bits>(product);
      if (instruction.has("hi")) result = static_cast<Bits>(product >> bits);
      if (op == "mad") {
        const bool wide = instruction.has("wide");
        result += read(thread, instruction, 3, wide ? PtxType{type.kind, 2 * bits} : type);
      }
      return result;
    }
    fail(thread, "unknown operation on integers");
  }

  PtxProgram program_;
  std::vector<unsigned char> shared_;
  std::vector<std::pair<Bits, Bits>> allowed_;
  std::vector<const void*> arguments_;
  std::array<std::uint32_t, 3> position_{};
  std::array<std::uint32_t, 3> grid_{};
  std::vector<Thread> threads_;
  std::unordered_map<Bits, Touch> bytes_;  ///< by the address on this machine
  std::uint32_t epoch_ = 1;
  GlobalAccesses accesses_;
};

}  // namespace teeny::compiler::testing

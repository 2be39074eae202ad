#include "teeny/ir/fingerprint.hpp"

#include <string_view>
#include <utility>

#include "ir/hashes.hpp"
#include "ir/rules.hpp"

#include "teeny/base/digest.hpp"

namespace teeny::ir {

namespace {

/// Hashes every value once, from its operands' hashes, in the order of recording; the time is
/// linear in the number of operations. What the order of recording must not change depends on
/// hashes only:
///  * a value: its operation and operands, so that twins have one hash and dead ones are in
///  nobody's;
///  * memory: a chain of states. A write makes a new state of the old one and itself; a read hashes
///    the state it sees; an operation with writes inside counts as one write;
///  * a region's memory state begins with a mark of its own, for what is read there is read under a
///    condition, and in a fold after the writes of earlier rounds;
///  * a region's arguments: their nesting depth and position, which no two enclosing regions share.
class Fingerprinter {
 public:
  explicit Fingerprinter(const Kernel& kernel, std::unordered_map<const Op*, Hash>* ops = nullptr)
      : kernel_(kernel), hashes_(kernel.values.size()), ops_(ops) {}

  [[nodiscard]] std::vector<Hash> take_values() { return std::move(hashes_); }

  std::string run() {
    Sha256 whole;
    begin(whole, "kernel");
    whole.number(static_cast<std::uint64_t>(ir_version)).field(kernel_.name);
    whole.number(static_cast<std::uint64_t>(kernel_.options.num_warps));
    whole.number(static_cast<std::uint64_t>(kernel_.options.num_stages));
    whole.number(static_cast<std::uint64_t>(kernel_.options.max_registers));
    whole.number(kernel_.body.arguments.size());
    for (const ValueId id : kernel_.body.arguments) type(whole, kernel_.values[id]);

    Sha256 entry;
    begin(entry, "entry");
    State state{entry.finish(), false};
    arguments(kernel_.body, 0);
    operations(kernel_.body, 0, state);
    append(whole, state.hash);
    return whole.hex();
  }

 private:
  struct State {
    Hash hash;
    bool written = false;  ///< since the region began
  };

  static void begin(Sha256& sha, std::string_view kind) { sha.field(kind); }
  static void append(Sha256& sha, const Hash& hash) {
    sha.field({reinterpret_cast<const char*>(hash.data()), hash.size()});
  }
  static void type(Sha256& sha, const Type& type) { sha.field(to_string(type)); }

  void arguments(const Block& block, std::uint64_t depth) {
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      Sha256 sha;
      begin(sha, "argument");
      sha.number(depth).number(i);
      type(sha, kernel_.values[block.arguments[i]]);
      hashes_[block.arguments[i]] = sha.finish();
    }
  }

  void operations(const Block& block, std::uint64_t depth, State& state) {
    for (const Op& op : block.ops) {
      if (op.code != Opcode::yield) operation(op, depth, state);
    }
  }

  void operation(const Op& op, std::uint64_t depth, State& state) {
    Sha256 sha;
    begin(sha, "operation");
    sha.field(name(op.code));
    attributes(sha, op);
    sha.number(op.results.size());
    for (const ValueId id : op.results) type(sha, kernel_.values[id]);
    sha.number(op.operands.size());
    for (const ValueId id : op.operands) append(sha, hashes_[id]);
    const bool reads = op.code == Opcode::load || op.code == Opcode::load_view;
    bool writes = op.code == Opcode::store || op.code == Opcode::store_view;
    sha.number(op.regions.size());
    for (const Block& region : op.regions)
      append(sha, region_hash(region, depth + 1, state.hash, writes));
    if (reads || writes) append(sha, state.hash);
    const Hash hash = sha.finish();
    if (ops_ != nullptr) ops_->emplace(&op, hash);

    for (std::size_t i = 0; i < op.results.size(); ++i) {
      Sha256 result;
      begin(result, "result");
      append(result, hash);
      result.number(i);
      hashes_[op.results[i]] = result.finish();
    }
    if (!writes) return;
    Sha256 after;
    begin(after, "after");
    append(after, state.hash);
    append(after, hash);
    state = {after.finish(), true};
  }

  /// Of what a region yields and does. Sets `writes` if it writes; else the state outside is in the
  /// hash only as far as the region reads, so that a pure region may stand anywhere.
  Hash region_hash(const Block& region, std::uint64_t depth, const Hash& outer, bool& writes) {
    Sha256 mark;
    begin(mark, "inside");
    append(mark, outer);
    mark.number(depth);
    State state{mark.finish(), false};
    arguments(region, depth);
    operations(region, depth, state);

    Sha256 sha;
    begin(sha, "region");
    sha.number(region.arguments.size());
    for (const ValueId id : region.arguments) type(sha, kernel_.values[id]);
    const std::vector<ValueId>& yielded = region.ops.back().operands;
    sha.number(yielded.size());
    for (const ValueId id : yielded) append(sha, hashes_[id]);
    sha.number(state.written ? 1 : 0);
    if (state.written) append(sha, state.hash);
    writes = writes || state.written;
    return sha.finish();
  }

  static void attributes(Sha256& sha, const Op& op) {
    sha.number(op.bits).number(static_cast<std::uint64_t>(op.index));
    sha.number(op.dims.size());
    for (const int dim : op.dims) sha.number(static_cast<std::uint64_t>(dim));
    sha.field(name(op.predicate)).field(name(op.cache)).field(name(op.precision));
  }

  const Kernel& kernel_;
  std::vector<Hash> hashes_;  // by ValueId
  std::unordered_map<const Op*, Hash>* ops_;
};

}  // namespace

std::string fingerprint(const Kernel& kernel) { return Fingerprinter(kernel).run(); }

Hashes hashes_of(const Kernel& kernel) {
  Hashes hashes;
  Fingerprinter fingerprinter(kernel, &hashes.ops);
  hashes.whole = fingerprinter.run();
  hashes.values = fingerprinter.take_values();
  return hashes;
}

}  // namespace teeny::ir

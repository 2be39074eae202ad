#pragma once

#include <string>
#include <vector>

#include "teeny/lang/any_tile.hpp"
#include "teeny/lang/trace.hpp"

namespace teeny::lang {

/// The way from handles to the builder of the trace they belong to.
struct Recorder {
  /// The builder of this thread's trace. Error(usage) when there is none.
  static ir::Builder& builder();
  /// The value behind a handle. Error(usage) when it belongs to another trace.
  static ir::ValueId id(const AnyTile& tile);
  static AnyTile wrap(ir::ValueId id);
  static std::vector<ir::ValueId> ids(const Tiles& tiles);
  static Tiles wrap(const std::vector<ir::ValueId>& ids);
  static Trace& current();
};

/// "f32[64, 32]": for messages.
[[nodiscard]] std::string describe(const AnyTile& tile);
/// The shape both broadcast to. Error(input) naming both.
[[nodiscard]] Shape common_shape(const Shape& a, const Shape& b);

}  // namespace teeny::lang

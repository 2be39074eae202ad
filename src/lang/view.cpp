#include "teeny/lang/view.hpp"

#include <utility>

#include "lang/recorder.hpp"

#include "teeny/base/error.hpp"

namespace teeny::lang {

namespace {

std::vector<ir::ValueId> wide_ids(const Index* indices, std::size_t count) {
  std::vector<ir::ValueId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(Recorder::id(indices[i].wide()));
  return ids;
}

void require_rank(const ViewParts& view, std::size_t found, const char* what) {
  if (found == view.extents.size()) return;
  throw Error(ErrorKind::input, std::string("a view of ") + std::to_string(view.extents.size()) +
                                    " axes wants as many " + what + ", found " +
                                    std::to_string(found));
}

}  // namespace

AnyTile Index::wide() const {
  if (!value_.is_tile()) return constant(DType::i64, {}, value_.number());
  const ir::Type type = value_.tile().type();
  if (type.pointer || !type.is_scalar() || !is_int(type.dtype)) {
    throw Error(ErrorKind::input,
                "an extent, stride or offset of a view is one integer, found " + to_string(type));
  }
  return cast_to(value_.tile(), DType::i64);
}

ViewParts make_view(const AnyTile& base, const Index* extents, std::size_t rank,
                    const Index* strides, std::size_t stride_count) {
  const ir::Type type = base.type();
  if (!type.pointer || !type.is_scalar()) {
    throw Error(ErrorKind::input, "a view starts at one pointer, found " + to_string(type));
  }
  if (rank == 0) throw Error(ErrorKind::input, "a view has at least one axis, found none");
  ViewParts parts{base, {}, {}};
  for (std::size_t i = 0; i < rank; ++i) parts.extents.push_back(extents[i].wide());
  if (strides != nullptr) {
    require_rank(parts, stride_count, "strides");
    for (std::size_t i = 0; i < rank; ++i) parts.strides.push_back(strides[i].wide());
    return parts;
  }
  parts.strides.assign(rank, constant(DType::i64, {}, 1));
  for (std::size_t i = rank - 1; i > 0; --i) {
    parts.strides[i - 1] = i == rank - 1
                               ? parts.extents[i]
                               : binary(ir::Opcode::mul, parts.strides[i], parts.extents[i]);
  }
  return parts;
}

AnyTile load_tile(const ViewParts& view, const Index* at, std::size_t count, const Shape& shape,
                  const Number& padding) {
  require_rank(view, count, "offsets");
  require_rank(view, shape.size(), "extents of the tile");
  return Recorder::wrap(Recorder::builder().load_view(
      Recorder::id(view.base), Recorder::ids(view.extents), Recorder::ids(view.strides),
      wide_ids(at, count), shape, padding.bits(view.base.dtype())));
}

void store_tile(const ViewParts& view, const Index* at, std::size_t count, const Operand& value,
                const Shape& shape) {
  require_rank(view, count, "offsets");
  require_rank(view, shape.size(), "axes of the stored tile");
  const AnyTile& tile = value.tile();
  const DType wanted = view.base.dtype();
  if (tile.dtype() != wanted || tile.is_pointer()) {
    throw Error(ErrorKind::input,
                "store: wanted a tile of " + std::string(name(wanted)) + " for this view, found " +
                    describe(tile),
                "convert the tile: cast(x, DType::" + std::string(name(wanted)) + ")");
  }
  Recorder::builder().store_view(Recorder::id(view.base), Recorder::ids(view.extents),
                                 Recorder::ids(view.strides), wide_ids(at, count),
                                 Recorder::id(tile));
}

}  // namespace teeny::lang

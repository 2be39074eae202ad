#include "teeny/ir/type.hpp"

#include <gtest/gtest.h>

namespace teeny::ir {
namespace {

TEST(Type, Spelling) {
  EXPECT_EQ(to_string(Type::scalar(DType::boolean)), "bool");
  EXPECT_EQ(to_string(Type::tile(DType::f32, {64, 32})), "f32[64x32]");
  EXPECT_EQ(to_string(Type::pointer_to(DType::bf16)), "ptr<bf16>");
  EXPECT_EQ(to_string(Type::pointer_to(DType::f32, true, {1024})), "ptr<const f32>[1024]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{64, 32}), "[64, 32]");
}

TEST(Type, ElementsAreCounted) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({4, 8, 2}), 64);
}

TEST(Type, RulesAreChecked) {
  EXPECT_EQ(broken_rule(Type::tile(DType::f32, {64, 1, 32})), "");
  EXPECT_EQ(broken_rule(Type::tile(DType::i8, {max_elements})), "");
  EXPECT_EQ(broken_rule(Type::tile(DType::f32, {3})), "extent 3 is not a power of two");
  EXPECT_EQ(broken_rule(Type::tile(DType::f32, {0})), "extent 0 is not a power of two");
  EXPECT_EQ(broken_rule(Type::tile(DType::f32, {-4})), "extent -4 is not a power of two");
  EXPECT_NE(broken_rule(Type::tile(DType::f32, {max_elements, 2})), "");
  // A product that would wrap around to something small.
  EXPECT_NE(broken_rule(Type::tile(DType::f32, {1LL << 32, 1LL << 32})), "");
  EXPECT_NE(broken_rule(Type::tile(DType::f32, Shape(9, 1))), "");
  Type odd = Type::scalar(DType::f32);
  odd.read_only = true;
  EXPECT_EQ(broken_rule(odd), "only pointers can be read-only");
}

}  // namespace
}  // namespace teeny::ir

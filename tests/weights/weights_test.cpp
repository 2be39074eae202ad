#include "teeny/weights.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;

namespace {

// All that this test program declares.
const Weight<f32> matrix{"layer.matrix", {2, 3}};
const Weight<i32> scalar{"scalar", {}};
const Weight<f32> matrix_again{"layer.matrix", {2, 3}};

const std::vector<f32> values = {1, 2, 3, 4, 5, 6};
const std::vector<i32> seven = {7};

class WeightsTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<TensorToStore>& tensors) {
    const fs::path path = directory_.path() / name;
    write_safetensors(path, tensors);
    return path;
  }
  static TensorToStore good_matrix() {
    return tensor_to_store<f32>("layer.matrix", {2, 3}, values);
  }
  static TensorToStore good_scalar() { return tensor_to_store<i32>("scalar", {}, seven); }
  // The error that these files are refused with.
  std::string refusal(const std::vector<fs::path>& files, int code) {
    try {
      static_cast<void>(load_weights(files));
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), code) << error.message();
      EXPECT_FALSE(error.next().empty());
      return error.message();
    }
    ADD_FAILURE() << "accepted";
    return "";
  }

  TemporaryDirectory directory_{"weights 'é $"};
};

}  // namespace

TEST_F(WeightsTest, AreDeclaredWithoutARun) {
  const auto declared = declared_weights();
  ASSERT_EQ(declared.size(), 2U);
  EXPECT_EQ(declared[0].name, "layer.matrix");
  EXPECT_EQ(to_string(declared[0].type), "f32[2x3]");
  EXPECT_EQ(to_string(declared[1].type), "i32");
}

TEST_F(WeightsTest, GiveViewsAndBuffers) {
  const std::vector<u8> more = {1};
  const auto file = write("all.safetensors", {good_matrix(), good_scalar(),
                                              tensor_to_store<u8>("not declared", {1}, more)});
  const Weights weights = load_weights(file);
  const auto view = weights.host(matrix);
  EXPECT_EQ(std::vector<f32>(view.begin(), view.end()), values);
  EXPECT_EQ(weights.host(scalar)[0], 7);
  EXPECT_EQ(weights.buffer(Device::open("cpu"), matrix).to_vector(), values);
  const auto one = write("one.safetensors", {good_matrix()});
  const auto two = write("two.safetensors", {good_scalar()});
  const Weights of_two = load_weights(std::vector<fs::path>{one, two});
  EXPECT_EQ(of_two.host(matrix)[5], 6);
  EXPECT_EQ(of_two.host(scalar)[0], 7);
  EXPECT_THROW(static_cast<void>(Weights{}.host(matrix)), Error);
}

TEST_F(WeightsTest, AreAlignedWhateverTheFile) {
  std::string header = R"({"layer.matrix":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
                       R"("scalar":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})";
  while (header.size() % 4 != 1) header += ' ';
  const u64 length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(seven.data()), 4);
  bytes.append(reinterpret_cast<const char*>(values.data()), 24);
  const fs::path path = directory_.path() / "odd.safetensors";
  write_file(path, bytes);
  const Weights weights = load_weights(path);
  const auto view = weights.host(matrix);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data()) % alignof(f32), 0U);
  EXPECT_EQ(std::vector<f32>(view.begin(), view.end()), values);
  EXPECT_EQ(weights.host(matrix).data(), view.data());
}

TEST_F(WeightsTest, OfAnotherTypeShapeOrNameAreRefused) {
  const std::vector<f16> half(6);
  const std::vector<f32> ones(6);
  const auto expect = [](const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(refusal({write("a.safetensors",
                        {tensor_to_store<f16>("layer.matrix", {2, 3}, half), good_scalar()})},
                 finding_code::dtype),
         {"weight layer.matrix: wanted f32[2x3], found f16[2x3] in ", "a.safetensors"});
  expect(refusal({write("b.safetensors",
                        {tensor_to_store<f32>("layer.matrix", {3, 2}, ones), good_scalar()})},
                 finding_code::incomplete),
         {"weight layer.matrix: wanted f32[2x3], found f32[3x2] in "});
  expect(refusal({write("c.safetensors",
                        {tensor_to_store<f32>("layer.matrlx", {2, 3}, ones), good_scalar()})},
                 finding_code::incomplete),
         {"weight layer.matrix: wanted f32[2x3], found no tensor of that name", "layer.matrlx"});
  // All that is wrong is told at once.
  expect(
      refusal({write("d.safetensors", {})}, finding_code::incomplete),
      {"weight layer.matrix: ", "weight scalar: wanted i32, found no tensor", "no tensor at all"});
  const auto good = write("e.safetensors", {good_matrix(), good_scalar()});
  expect(refusal({good, write("f.safetensors", {good_scalar()})}, finding_code::incomplete),
         {"weight scalar: wanted i32 once", "e.safetensors and in ", "f.safetensors"});
}

TEST_F(WeightsTest, OfADirectoryAreCheckedByItsFiles) {
  const auto needs = declared_weights();
  auto findings = detail::check_weights(needs, directory_.path() / "none");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].exit_code, finding_code::incomplete);
  EXPECT_NE(findings[0].text.find("layer.matrix: f32[2x3]"), std::string::npos);
  EXPECT_NE(findings[0].next.find("--data"), std::string::npos);
  write("a.safetensors", {good_matrix()});
  write("b.other", {good_scalar()});
  findings = detail::check_weights(needs, directory_.path());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].text.find("weight scalar"), std::string::npos);
  write("c.safetensors", {good_scalar()});
  EXPECT_TRUE(detail::check_weights(needs, directory_.path()).empty());
  write_file(directory_.path() / "d.safetensors", "damaged");
  findings = detail::check_weights(needs, directory_.path());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].text.find("d.safetensors is no sound"), std::string::npos);
  EXPECT_TRUE(detail::check_weights({}, directory_.path()).empty());
}

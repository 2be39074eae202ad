#include "teeny/weights/safetensors.hpp"

#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;

namespace {

std::string file_of(const std::string& header, const std::string& data = {}) {
  const u64 length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

// The message, which must be an Error about the file; empty when it was taken.
std::string refusal(const std::string& bytes) {
  // Of exactly that size, so that a sanitizer sees a read beyond it.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    static_cast<void>(parse_safetensors({exact.data(), exact.size()}, "x.safetensors"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("x.safetensors"), std::string::npos);
    return error.message();
  }
  return "";
}

std::string one_tensor(const std::string& fields) { return "{\"w\":{" + fields + "}}"; }

}  // namespace

TEST(Safetensors, WhatIsWrittenIsReadBack) {
  const TemporaryDirectory directory("tensors 'é");
  const fs::path path = directory.path() / "a b.safetensors";
  std::vector<f32> a(64 * 3);
  std::iota(a.begin(), a.end(), -5.0F);
  const std::vector<u8> b = {1, 2, 3};
  const std::vector<f64> scalar = {2.5};
  const std::vector<i64> none;
  const std::vector<TensorToStore> tensors = {
      tensor_to_store<u8>("b", {3}, b), tensor_to_store<f32>("a.é", {64, 3}, a),
      tensor_to_store<f64>("scalar", {}, scalar), tensor_to_store<i64>("none", {4, 0}, none)};
  write_safetensors(path, tensors, {{"key", "value \"'é"}});
  const auto file = SafetensorsFile::open(path);
  EXPECT_EQ(file.contents().metadata.at("key"), "value \"'é");
  std::vector<std::string> names;
  for (const auto& tensor : file.contents().tensors) {
    names.push_back(tensor.name + " " + tensor.type_text());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) %
                  static_cast<std::size_t>(size_of(*tensor.dtype)),
              0U);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"a.é f32[64x3]", "b u8[3]", "none i64[4x0]", "scalar f64"}));
  EXPECT_EQ(elements<f32>(*file.contents().find("a.é")), a);
  EXPECT_EQ(elements<u8>(*file.contents().find("b")), b);
  EXPECT_EQ(elements<f64>(*file.contents().find("scalar")), scalar);
  EXPECT_TRUE(elements<i64>(*file.contents().find("none")).empty());
  EXPECT_EQ(file.contents().find("c"), nullptr);
  EXPECT_THROW(static_cast<void>(elements<f16>(*file.contents().find("b"))), Error);
  // The same from any order.
  const std::string bytes = read_file(path);
  write_safetensors(path, {tensors[3], tensors[1], tensors[0], tensors[2]},
                    {{"key", "value \"'é"}});
  EXPECT_EQ(read_file(path), bytes);
  // A copy holds the mapping.
  SafetensorsFile copy = file;
  fs::remove(path);
  EXPECT_EQ(elements<u8>(*copy.contents().find("b")), b);
}

TEST(Safetensors, WhatCannotBeWrittenIsRefused) {
  const TemporaryDirectory directory("tensors");
  const fs::path path = directory.path() / "x";
  const std::vector<f32> a = {1, 2};
  EXPECT_THROW(write_safetensors(path, {tensor_to_store<f32>("a", {3}, a)}), Error);
  EXPECT_THROW(write_safetensors(
                   path, {tensor_to_store<f32>("a", {2}, a), tensor_to_store<f32>("a", {2}, a)}),
               Error);
  EXPECT_THROW(write_safetensors(path, {tensor_to_store<f32>("__metadata__", {2}, a)}), Error);
  EXPECT_THROW(write_safetensors(path, {tensor_to_store<f32>("\xff", {2}, a)}), Error);
  EXPECT_FALSE(fs::exists(path));
}

TEST(Safetensors, FilesOfOtherWritersAreTaken) {
  const std::string data(11, 'x');
  const auto contents = parse_safetensors(
      file_of("{\"__metadata__\":{\"format\":\"pt\"},"
              "\"b\":{\"data_offsets\":[8,11],\"dtype\":\"F8_E4M3\",\"shape\":[3]},"
              "\"a\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}   ",
              data),
      "x");
  ASSERT_EQ(contents.tensors.size(), 2U);
  EXPECT_EQ(contents.tensors[0].type_text(), "bf16[2x2]");
  EXPECT_EQ(contents.tensors[1].type_text(), "F8_E4M3[3]");
  EXPECT_FALSE(contents.tensors[1].dtype);
  EXPECT_TRUE(parse_safetensors(file_of("{}"), "x").tensors.empty());
}

TEST(Safetensors, EveryFaultIsNamed) {
  const std::string good = "\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]";
  ASSERT_EQ(refusal(file_of(one_tensor(good), "1234")), "");
  const std::pair<std::string, const char*> faults[] = {
      {"", "before the length of its header"},
      {"1234567", "before the length of its header"},
      {std::string(8, '\xff'), "header of at most"},
      {std::string("\x09\0\0\0\0\0\0\0{}", 10), "wanted a header of 9 bytes, found 2"},
      {file_of(""), "does not begin with {"},
      {file_of(" {}"), "does not begin with {"},
      {file_of("{\"w\""), "no JSON"},
      {file_of("{} x"), "no JSON"},
      {file_of("{\"\xff\":{}}"), "no JSON"},
      {file_of(one_tensor(good)), "the file has 0"},
      {file_of(one_tensor(good), "123"), "the file has 3"},
      {file_of(one_tensor(good), "12345"), "wanted 4 bytes of data, found 5"},
      {file_of("{\"w\":{" + good + "},\"w\":{" + good + "}}", "1234"), "\"w\" twice"},
      {file_of("{\"w\":{" + good + ",\"dtype\":\"F32\"}}", "1234"), "\"dtype\" twice"},
      {file_of("{\"w\":{" + good + "},\"v\":{" + good + "}}", "1234"), "it begins at byte 0"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]"), "12345"),
       "begins at byte 1"},
      {file_of("{\"w\":[]}"), "\"w\": it is no object"},
      {file_of("{\"__metadata__\":[]}"), "__metadata__ is no object"},
      {file_of("{\"__metadata__\":{\"a\":1}}"), "\"a\" of its __metadata__"},
      {file_of(one_tensor("\"shape\":[1],\"data_offsets\":[0,4]"), "1234"), "no dtype"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"data_offsets\":[0,4]"), "1234"), "no shape"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1]"), "1234"), "no data_offsets"},
      {file_of(one_tensor("\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]"), "1234"),
       "dtype is no text"},
      {file_of(one_tensor("\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]"), "1234"),
       "dtype F33 is not known"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]"), "1234"),
       "shape is no list"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]"), "1234"),
       "whole numbers"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]"), "1234"),
       "whole numbers"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]"), "1234"),
       "whole numbers"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]"), "1234"),
       "its begin and its end"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]"), "1234"),
       "its begin and its end"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]"), "1234"),
       "wanted 8 bytes for f32[2], found 4"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
                          "\"data_offsets\":[0,4]"),
               "1234"),
       "overflows"},
      {file_of(one_tensor("\"dtype\":\"F32\",\"shape\":[4611686018427387905],"
                          "\"data_offsets\":[0,4]"),
               "1234"),
       "overflows"},
  };
  for (const auto& [bytes, said] : faults) {
    EXPECT_NE(refusal(bytes).find(said), std::string::npos) << said << "\n" << refusal(bytes);
  }
}

TEST(Safetensors, AnyBytesAreTakenOrRefusedWhole) {
  const TemporaryDirectory directory("tensors");
  const std::vector<f32> a = {1, 2, 3};
  const std::vector<i8> b = {4, 5};
  write_safetensors(directory.path() / "x",
                    {tensor_to_store<f32>("a", {3}, a), tensor_to_store<i8>("b", {2}, b)},
                    {{"key", "value"}});
  const std::string good = read_file(directory.path() / "x");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(refusal(good.substr(0, size)), "") << size;
  }
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed=" + std::to_string(seed));
  std::mt19937 generator(seed);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (unsigned change = 0; change <= generator() % 3; ++change) {
      bytes[generator() % bytes.size()] = static_cast<char>(generator());
    }
    static_cast<void>(refusal(bytes));
  }
}

TEST(Safetensors, FilesThatAreNoneAreRefused) {
  const TemporaryDirectory directory("tensors");
  EXPECT_THROW(static_cast<void>(SafetensorsFile::open(directory.path() / "none")), Error);
  EXPECT_THROW(static_cast<void>(SafetensorsFile::open(directory.path())), Error);
  write_file(directory.path() / "empty", "");
  EXPECT_THROW(static_cast<void>(SafetensorsFile::open(directory.path() / "empty")), Error);
}

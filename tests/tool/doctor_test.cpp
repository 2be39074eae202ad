#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/doctor/diagnosis.hpp"

using namespace teeny;
using namespace teeny::tool;

namespace {

const Assembler cuda_11{"/a/ptxas", {11, 8, 89}};
const Assembler cuda_12{"/b/ptxas", {12, 9, 86}};
const Assembler cuda_13{"/c/\xff/ptxas", {13, 0, 88}};

}  // namespace

TEST(Doctor, SaysForEachAssemblerWhatItServes) {
  Diagnosis diagnosis;
  diagnose_assemblers({{cuda_13, cuda_12, cuda_11}, {}}, shipped_boards(), diagnosis);
  EXPECT_TRUE(diagnosis.problems.empty());
  ASSERT_EQ(diagnosis.assemblers.size(), 3U);
  const auto& [thirteen, twelve, eleven] =
      std::tie(diagnosis.assemblers[0], diagnosis.assemblers[1], diagnosis.assemblers[2]);
  EXPECT_EQ(eleven.highest_ptx, (PtxVersion{7, 8}));
  EXPECT_EQ(eleven.oldest_driver, (DriverVersion{11, 0}));
  EXPECT_EQ(eleven.boards, std::vector<std::string>{"jetson-xavier-nx@5.1"});
  EXPECT_EQ(eleven.elf_abis, std::vector<int>{7});
  EXPECT_EQ(eleven.capabilities.front(), "sm_72");
  EXPECT_EQ(twelve.elf_abis, (std::vector<int>{7, 8}));
  EXPECT_EQ(thirteen.elf_abis, std::vector<int>{8});
  EXPECT_EQ(thirteen.capabilities.front(), "sm_75");
  const auto served = [](const AssemblerRow& row, const std::string& board) {
    return std::find(row.boards.begin(), row.boards.end(), board) != row.boards.end();
  };
  EXPECT_TRUE(served(twelve, "jetson-orin-nano@6.0"));
  EXPECT_TRUE(served(twelve, "jetson-orin-nano@6.2"));
  EXPECT_TRUE(served(thirteen, "jetson-orin-nano@7.2"));
  EXPECT_TRUE(served(thirteen, "jetson-agx-thor@7.0"));
}

TEST(Doctor, NamesTheBoardsThatNoAssemblerServes) {
  Diagnosis diagnosis;
  diagnose_assemblers({{cuda_13}, {{"/x/ptxas", "--version ended with exit code 9"}}},
                      {find_board("jetson-orin-nano"), find_board("generic-aarch64")}, diagnosis);
  ASSERT_EQ(diagnosis.problems.size(), 3U);
  EXPECT_EQ(diagnosis.problems[0].what,
            "machine code for jetson-orin-nano@6.0 (sm_87, driver 12.2) wants ptxas of CUDA 12 or "
            "11");
  EXPECT_NE(diagnosis.problems[0].next.find("teeny install-toolchain"), std::string::npos);
  const std::string text = as_text(diagnosis);
  EXPECT_NE(text.find("/x/ptxas: --version ended"), std::string::npos) << text;
  EXPECT_NE(text.find("missing:\n"), std::string::npos) << text;
}

TEST(Doctor, JsonHoldsTheSame) {
  Diagnosis diagnosis;
  diagnose_assemblers({{cuda_12, cuda_13}, {}}, shipped_boards(), diagnosis);
  diagnose_tools(shipped_boards(), diagnosis);
  const auto json = nlohmann::json::parse(as_json(diagnosis));
  EXPECT_EQ(json.at("schema"), "teeny-doctor/1");
  EXPECT_TRUE(json.at("teenyc").is_null());
  EXPECT_EQ(json.at("assemblers").at(0).at("path"), "/b/ptxas");
  EXPECT_EQ(json.at("assemblers").at(0).at("version"), "12.9.86");
  EXPECT_EQ(json.at("assemblers").at(0).at("highest_ptx"), "8.8");
  EXPECT_EQ(json.at("assemblers").at(0).at("oldest_driver"), "12.0");
  // A path that is not UTF-8.
  EXPECT_EQ(json.at("assemblers").at(1).at("path"), "/c/%FF/ptxas");
  ASSERT_EQ(json.at("problems").size(), 1U);
  EXPECT_NE(json.at("problems").at(0).at("what").get<std::string>().find("jetson-xavier-nx@5.1"),
            std::string::npos);
  bool cmake = false;
  for (const auto& program : json.at("programs")) {
    cmake = cmake || (program.at("name") == "cmake" && program.at("path").is_string());
  }
  EXPECT_TRUE(cmake);
}

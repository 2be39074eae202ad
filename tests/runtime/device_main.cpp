// main of device_tests: the flags of every teeny program first (its kernels are compiled ahead of
// time by them), then GoogleTest's.

#include <gtest/gtest.h>

#include "teeny/program.hpp"

int main(int argc, char** argv) {
  return teeny::run(argc, argv, [&](teeny::Program&) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  });
}

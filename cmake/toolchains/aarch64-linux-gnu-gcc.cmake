# AArch64 Linux with the distribution's cross g++ and its own C library; no sysroot. What it links
# needs glibc 2.34 and GLIBCXX 3.4.29. It does not honour --sysroot of an older board: for that take
# aarch64-linux-gnu-clang.cmake.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# A teeny found by teeny_DIR or on CMAKE_PREFIX_PATH lies outside every target root: it is sources.
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
find_program(TEENY_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(TEENY_QEMU_AARCH64)
if(TEENY_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${TEENY_QEMU_AARCH64};-L;/usr/aarch64-linux-gnu")
endif()

# `cpack` makes a .deb and a .tar.gz of what `cmake --install` installs. A release is made of the
# preset "release", where teenyc holds LLVM and lld: tests/release/run makes one and tries it in bare
# systems.

include_guard(GLOBAL)

set(CPACK_PACKAGE_NAME teeny)
set(CPACK_PACKAGE_VENDOR "the authors of teeny")
set(CPACK_PACKAGE_CONTACT "the authors of teeny <teeny@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME
    "teeny-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}-linux")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

# --- Debian, and what comes from it -----------------------------------------------------------------
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "teenyc compiles tile kernels written in C++ for GPUs and CPUs; teeny builds programs for boards,
packages them with their kernels and ships them over ssh. The library that such programs link comes
as sources, and is compiled by the toolchain of each board.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What the commands start: a compiler and CMake (build, check, aot, package), ssh and rsync (deploy,
# run, preflight --host); and for boards of another architecture its compiler and an emulator.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake (>= 3.25), g++ (>= 4:12), ninja-build, openssh-client, rsync")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++-aarch64-linux-gnu, qemu-user, python3-pip, clang, lld")

include(CPack)

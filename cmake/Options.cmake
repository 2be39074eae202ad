# What holds for everything built here: warnings, the compiler cache, no traces of this machine.

include_guard(GLOBAL)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Executables find what they need beside themselves or in the system; no path of the build stays.
set(CMAKE_SKIP_RPATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# A compiler cache of its own below build/, shared by all build directories of this copy of the tree.
# Only what CMake generates lies elsewhere for each of them, and is called by its path from there. A
# cache that several copies are given by CCACHE_DIR calls everything by its path from there, so only
# build directories of one depth share it.
find_program(TEENY_CCACHE ccache)
mark_as_advanced(TEENY_CCACHE)
# The environment may ask for the same: CMAKE_CXX_COMPILER_LAUNCHER=ccache.
if(TEENY_CCACHE AND (NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  set(own "${PROJECT_SOURCE_DIR}/build/ccache")
  if(DEFINED ENV{CCACHE_DIR} AND NOT "$ENV{CCACHE_DIR}" STREQUAL own)
    set(where "CCACHE_DIR=$ENV{CCACHE_DIR}" "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}")
  else()
    set(where "CCACHE_DIR=${own}" "CCACHE_BASEDIR=${PROJECT_BINARY_DIR}/CMakeFiles")
  endif()
  # The path that each copy maps to "teeny" is in no object.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env ${where} CCACHE_NOHASHDIR=1
                                  "CCACHE_IGNOREOPTIONS=-ffile-prefix-map=*" CCACHE_MAXSIZE=3G
                                  "${TEENY_CCACHE}")
endif()

# teeny_own_target(<target>): our warnings, and no path of this checkout in what is built.
function(teeny_own_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(
    ${target}
    PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow "$<$<BOOL:${TEENY_WERROR}>:-Werror>"
            "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=teeny")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlapping copies in std::string's own operator+ (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
endfunction()

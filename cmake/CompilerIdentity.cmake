# teenyc's identity: a SHA-256 over the sources it is built from and the versions of LLVM, lld and
# the wire protocol. Two teenycs of one identity make the same artifacts, so the identity is in
# every artifact's key. No path, commit, package revision or binary enters it.
#
# Included: defines teeny_add_compiler_identity(<target> LLVM <version> LLD <version>).
# Run as a script (cmake -P) at build time: computes it from SOURCE_DIR, LLVM, LLD and writes TEXT
# (64 hex digits and a newline) and HEADER.

set(TEENY_IDENTITY_ROOMS src/compiler src/ir src/base src/target include/teeny/ir include/teeny/base
                         include/teeny/target)
# The protocol's version is a constant in this header; its text is hashed like any other source.
set(TEENY_IDENTITY_FILES include/teeny/cache/artifact.hpp include/teeny/cache/wire.hpp
                         src/cache/artifact_info.cpp src/cache/wire.cpp)

function(teeny_identity_sources root result)
  set(files)
  foreach(room IN LISTS TEENY_IDENTITY_ROOMS)
    file(GLOB_RECURSE found RELATIVE "${root}" "${root}/${room}/*.cpp" "${root}/${room}/*.hpp")
    list(APPEND files ${found})
  endforeach()
  foreach(file IN LISTS TEENY_IDENTITY_FILES)
    if(EXISTS "${root}/${file}")
      list(APPEND files "${file}")
    endif()
  endforeach()
  list(SORT files COMPARE STRING)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

function(teeny_add_compiler_identity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LLVM;LLD" "")
  teeny_identity_sources("${PROJECT_SOURCE_DIR}" files)
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/")
  set(text "${PROJECT_BINARY_DIR}/bin/teenyc.identity")
  set(header "${PROJECT_BINARY_DIR}/generated/compiler/identity.hpp")
  # When a file comes or goes, the compiler's own glob makes CMake run again and refreshes the list.
  add_custom_command(
    OUTPUT "${text}" "${header}"
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DLLVM=${arg_LLVM}"
            "-DLLD=${arg_LLD}" "-DTEXT=${text}" "-DHEADER=${header}" -P
            "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS ${files} "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    COMMENT "identity of teenyc"
    VERBATIM)
  target_sources(${target} PRIVATE "${header}")
  target_include_directories(${target} PUBLIC "${PROJECT_BINARY_DIR}/generated")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_minimum_required(VERSION 3.25)
  teeny_identity_sources("${SOURCE_DIR}" files)
  set(all "llvm ${LLVM}\nlld ${LLD}\n")
  foreach(file IN LISTS files)
    file(SHA256 "${SOURCE_DIR}/${file}" digest)
    string(APPEND all "${file} ${digest}\n")
  endforeach()
  string(SHA256 identity "${all}")
  file(CONFIGURE OUTPUT "${TEXT}" CONTENT "${identity}\n")
  file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#pragma once

namespace teeny::compiler {

/// SHA-256 over the sources this teenyc is built from and the versions of LLVM, lld and protocol.
inline constexpr char compiler_identity[] = \"${identity}\";

}  // namespace teeny::compiler
")
  # file(CONFIGURE) leaves an unchanged file alone; the build must still see that it is up to date.
  file(TOUCH "${TEXT}" "${HEADER}")
endif()

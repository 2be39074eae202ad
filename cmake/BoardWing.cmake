# The board wing: what every teeny program links, on every machine. It is described once, here, for
# this project's own build and for a program that finds an installed teeny: there the sources below
# share/teeny are compiled by the program's own toolchain, for the host or for a board.
#
#   teeny_add_board_wing(ROOT <dir> THIRD_PARTY <dir>)
#
# ROOT has include/teeny/<room> and src/<room>; THIRD_PARTY has the header-only libraries. Defines
# one library a room (teeny_base, teeny_target, ...) and teeny::teeny, which is all of them.

include_guard(GLOBAL)

# Bottom-up: a room links, and may include, only the rooms before it.
set(TEENY_ROOMS base target ir lang cache runtime kernels weights graph nn
    CACHE INTERNAL "rooms of the board wing, lowest first")

option(TEENY_UNITY_BUILD "compile several sources of teeny at a time" ON)

function(teeny_add_board_wing)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "ROOT;THIRD_PARTY" "")
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)

  # Only for .cpp files: no header of the board wing includes a third party.
  add_library(teeny_third_party INTERFACE)
  target_include_directories(teeny_third_party SYSTEM INTERFACE "${arg_THIRD_PARTY}")
  target_compile_definitions(teeny_third_party INTERFACE FMT_HEADER_ONLY=1)

  add_library(teeny_common INTERFACE)
  target_include_directories(teeny_common INTERFACE "${arg_ROOT}/include")
  target_compile_features(teeny_common INTERFACE cxx_std_20)
  # Constants are computed while a kernel is traced. Were products and sums fused here on one
  # machine and not on another, the same kernel would have two fingerprints.
  target_compile_options(teeny_common INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>")

  add_library(teeny INTERFACE)
  add_library(teeny::teeny ALIAS teeny)
  target_link_libraries(teeny INTERFACE teeny_common)

  set(below teeny_common)
  foreach(room IN LISTS TEENY_ROOMS)
    if(NOT IS_DIRECTORY "${arg_ROOT}/src/${room}" AND NOT IS_DIRECTORY
                                                       "${arg_ROOT}/include/teeny/${room}")
      continue()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${arg_ROOT}/src/${room}/*.cpp")
    if(sources)
      add_library(teeny_${room} STATIC EXCLUDE_FROM_ALL ${sources})
      # Several sources a compilation: headers are read once, and a user's first build is short.
      set_target_properties(
        teeny_${room} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
                                 UNITY_BUILD ${TEENY_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 8)
      target_include_directories(teeny_${room} PRIVATE "${arg_ROOT}/src")
      # The path of these sources must not show in what is built from them.
      target_compile_options(teeny_${room} PRIVATE "-ffile-prefix-map=${arg_ROOT}=teeny")
      # Tables, and JSON read once when a program starts: more than this takes the compiler two thirds
      # longer, and gives nobody anything.
      if(room MATCHES "^(target|cache)$" AND CMAKE_BUILD_TYPE STREQUAL Release)
        target_compile_options(teeny_${room} PRIVATE -O1)
      endif()
      target_link_libraries(teeny_${room} PUBLIC ${below} PRIVATE teeny_third_party)
      set_property(GLOBAL APPEND PROPERTY TEENY_OWN_TARGETS teeny_${room})
    else()
      add_library(teeny_${room} INTERFACE)
      target_link_libraries(teeny_${room} INTERFACE ${below})
    endif()
    set(below teeny_${room})
  endforeach()

  target_link_libraries(teeny INTERFACE ${below} Threads::Threads ${CMAKE_DL_LIBS})
  # Threads are used from below the runtime too, so the order on the link line matters on old glibc.
  target_link_libraries(teeny_common INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

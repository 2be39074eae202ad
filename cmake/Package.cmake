# `cmake --install`, and a build tree that has the same layout: bin/, lib/cmake/teeny and
# share/teeny, so that the tool and find_package(teeny) look in one place in both.

include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(config "${PROJECT_BINARY_DIR}/lib/cmake/teeny")
configure_file("${PROJECT_SOURCE_DIR}/cmake/teenyConfig.cmake.in" "${config}/teenyConfig.cmake"
               COPYONLY)
write_basic_package_version_file("${config}/teenyConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

set(share "${PROJECT_BINARY_DIR}/share/teeny")
file(MAKE_DIRECTORY "${share}")
cmake_path(GET third_party PARENT_PATH third_party_root)
foreach(pair "src|${PROJECT_SOURCE_DIR}/src" "include|${PROJECT_SOURCE_DIR}/include"
             "boards|${PROJECT_SOURCE_DIR}/boards" "cmake|${PROJECT_SOURCE_DIR}/cmake" "container|${PROJECT_SOURCE_DIR}/container"
             "third_party|${third_party_root}" "assemblers|${PROJECT_SOURCE_DIR}/assemblers"
             "templates|${PROJECT_SOURCE_DIR}/share/templates"
             "toolchain|${PROJECT_SOURCE_DIR}/build/toolchain")
  string(REGEX MATCH "^([a-z_]+)\\|(.*)$" matched "${pair}")
  file(CREATE_LINK "${CMAKE_MATCH_2}" "${share}/${CMAKE_MATCH_1}" SYMBOLIC)
endforeach()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

foreach(program teenyc teeny_program)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION bin)
  endif()
endforeach()
if(TARGET teenyc)
  install(FILES "${PROJECT_BINARY_DIR}/bin/teenyc.identity" DESTINATION bin)
endif()
install(DIRECTORY "${config}/" DESTINATION lib/cmake/teeny)
foreach(room IN LISTS TEENY_ROOMS)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/src/${room}")
    install(DIRECTORY "src/${room}" DESTINATION share/teeny/src FILES_MATCHING PATTERN "*.cpp"
            PATTERN "*.hpp")
  endif()
endforeach()
install(DIRECTORY include/ DESTINATION share/teeny/include FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${third_party_root}/include" DESTINATION share/teeny/third_party)
install(DIRECTORY cmake/toolchains DESTINATION share/teeny/cmake)
install(FILES cmake/BoardWing.cmake cmake/Kernels.cmake DESTINATION share/teeny/cmake)
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/boards")
  install(DIRECTORY boards DESTINATION share/teeny FILES_MATCHING PATTERN "*.toml")
endif()
install(FILES container/Containerfile DESTINATION share/teeny/container)
install(DIRECTORY share/templates DESTINATION share/teeny)
install(PROGRAMS assemblers/fetch.py DESTINATION share/teeny/assemblers)
install(FILES assemblers/pinned.txt DESTINATION share/teeny/assemblers)
install(FILES LICENSE README.md DESTINATION share/doc/teeny)
install(DIRECTORY docs DESTINATION share/doc/teeny FILES_MATCHING PATTERN "*.md")
if(TARGET teeny_tool)
  install(FILES "${PROJECT_BINARY_DIR}/share/bash-completion/completions/teeny"
          DESTINATION share/bash-completion/completions)
endif()
include(Release)

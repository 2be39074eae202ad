# A program that links what only its board has cannot be built on the host, where kernels are
# compiled. Its kernels alone can:
#
#   teeny_add_kernels(<app> <source>... [LIBRARIES <target>...])
#
# The sources are those that launch the kernels, and name nothing of the board. They are added to the
# executable <app>, where there is one; a cross build needs it. In a build for the host there is
# besides an executable <app>.kernels of them alone, which links teeny::teeny and LIBRARIES and has
# <app>'s file name: `teeny aot`, `check` and `package` build it in <app>'s place. It is in no `all`.

include_guard(GLOBAL)

function(teeny_add_kernels app)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "teeny_add_kernels(${app}): wanted the sources that launch its kernels, "
                        "found none")
  endif()
  set(sources)
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${source}")
  endforeach()
  set(name "${app}")
  if(TARGET ${app})
    target_sources(${app} PRIVATE ${sources})
    get_target_property(output_name ${app} OUTPUT_NAME)
    if(output_name)
      set(name "${output_name}")
    endif()
  elseif(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "teeny_add_kernels(${app}): wanted the program ${app}, found no such target; "
                        "call add_executable(${app} ...) before")
  endif()
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(main "${CMAKE_CURRENT_BINARY_DIR}/${app}.kernels.cpp")
  file(CONFIGURE OUTPUT "${main}" CONTENT [[
#include <cstdio>

#include "teeny/teeny.hpp"

int main(int argc, char** argv) {
  return teeny::run(argc, argv, [](teeny::Program&) {
    std::fputs("this holds the kernels of @app@ alone: run @app@ itself, on its board\n", stderr);
    return 1;
  });
}
]] @ONLY)
  add_executable(${app}.kernels EXCLUDE_FROM_ALL "${main}" ${sources})
  set_target_properties(
    ${app}.kernels PROPERTIES OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY
                                                    "${CMAKE_CURRENT_BINARY_DIR}/${app}.kernels")
  target_link_libraries(${app}.kernels PRIVATE teeny::teeny ${arg_LIBRARIES})
endfunction()

# The header-only libraries that travel with the board wing. They are copied out of the system's
# include directory, so that no compiler line for a board ever names that directory: its C headers
# are the host's.
#
#   teeny_copy_third_party(<variable for the include directory>)

include_guard(GLOBAL)

function(teeny_copy_third_party result)
  # One copy for all build directories below the source tree keeps their compiler lines alike, which
  # is what the compiler cache goes by.
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" NORMALIZE inside)
  if(inside)
    set(destination "${PROJECT_SOURCE_DIR}/build/third_party/include")
  else()
    set(destination "${PROJECT_BINARY_DIR}/third_party/include")
  endif()
  foreach(pair "nlohmann/json.hpp|nlohmann-json3-dev" "fmt/format.h|libfmt-dev"
               "stb/stb_image.h|libstb-dev")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 header)
    list(GET pair 1 package)
    find_file(found "${header}" PATHS /usr/include /usr/local/include NO_CACHE
              NO_CMAKE_FIND_ROOT_PATH)
    if(NOT found)
      message(FATAL_ERROR "no ${header} on this machine: run ./setup (Debian package ${package})")
    endif()
    cmake_path(GET found PARENT_PATH directory)
    file(COPY "${directory}" DESTINATION "${destination}" FILES_MATCHING PATTERN "*.h"
         PATTERN "*.hpp")
    unset(found)
  endforeach()
  set(${result} "${destination}" PARENT_SCOPE)
endfunction()

# The two programs of the host: teenyc (the only place where LLVM is) and the tool teeny. Each is a
# library, so that tests can reach it, and a main.

include_guard(GLOBAL)

option(TEENY_STATIC "teeny and teenyc hold LLVM, lld and the C++ library, as releases do" OFF)

# teeny_link_program(<target>): what holds for both programs when they are linked.
function(teeny_link_program target)
  if(TEENY_STATIC)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/static/older_c_library.cpp")
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  endif()
endfunction()

# --- teenyc ---------------------------------------------------------------------------------------
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/compiler/*.cpp")
if(TEENY_BUILD_COMPILER AND sources)
  enable_language(C) # LLVM's own package file asks for it
  find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
  find_package(LLD REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/lld)
  # lld and LLVM are released together and their package files do not tell lld's version apart.
  include(CompilerIdentity)

  set(main ${sources})
  list(FILTER main INCLUDE REGEX "/src/compiler/main\\.cpp$")
  set(faulty ${sources})
  list(FILTER faulty INCLUDE REGEX "/src/compiler/faulty[^/]*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/src/compiler/(main|faulty[^/]*)\\.cpp$")

  add_library(teeny_llvm INTERFACE)
  target_include_directories(teeny_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
  target_compile_definitions(teeny_llvm INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS
                                                  __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  if(TEENY_STATIC)
    include(StaticLlvm)
    teeny_link_static_llvm(teeny_llvm "${PROJECT_BINARY_DIR}/generated")
  else()
    target_link_libraries(teeny_llvm INTERFACE lldELF lldCommon LLVM)
  endif()

  add_library(teeny_compiler STATIC ${sources})
  target_include_directories(teeny_compiler PUBLIC "${PROJECT_SOURCE_DIR}/src")
  # What an artifact and the wire look like is said once, in the room of the client.
  target_link_libraries(teeny_compiler PUBLIC teeny_cache teeny_llvm PRIVATE teeny_third_party)
  teeny_add_compiler_identity(teeny_compiler LLVM ${LLVM_PACKAGE_VERSION}
                              LLD ${LLVM_PACKAGE_VERSION})
  # LLVM's headers take longer to read than our sources to compile.
  set_target_properties(teeny_compiler PROPERTIES UNITY_BUILD ${TEENY_UNITY_BUILD}
                                                  UNITY_BUILD_BATCH_SIZE 5)
  teeny_own_target(teeny_compiler)

  if(main)
    add_executable(teenyc ${main})
    target_link_libraries(teenyc PRIVATE teeny_compiler teeny_third_party)
    teeny_own_target(teenyc)
    teeny_link_program(teenyc)
    # For tests only: the same program, which can be told to abort, crash or hang.
    if(TEENY_BUILD_TESTS)
      add_executable(teenyc-faulty ${main} ${faulty})
      target_compile_definitions(teenyc-faulty PRIVATE TEENYC_FAULTY=1)
      target_link_libraries(teenyc-faulty PRIVATE teeny_compiler teeny_third_party)
      teeny_own_target(teenyc-faulty)
      add_custom_command(
        TARGET teenyc-faulty POST_BUILD
        COMMAND "${CMAKE_COMMAND}" -E copy "${PROJECT_BINARY_DIR}/bin/teenyc.identity"
                "${PROJECT_BINARY_DIR}/bin/teenyc-faulty.identity"
        VERBATIM)
    endif()
  endif()
endif()

# --- teeny ----------------------------------------------------------------------------------------
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tool/*.cpp")
if(TEENY_BUILD_TOOL AND sources)
  set(main ${sources})
  list(FILTER main INCLUDE REGEX "/src/tool/main\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/src/tool/main\\.cpp$")
  if(sources)
    add_library(teeny_tool STATIC ${sources})
    target_include_directories(teeny_tool PUBLIC "${PROJECT_SOURCE_DIR}/src")
    # It waits for files and other programs: a third of the time to compile it is worth more.
    if(CMAKE_BUILD_TYPE STREQUAL Release)
      target_compile_options(teeny_tool PRIVATE -O1)
    endif()
    target_compile_definitions(teeny_tool PUBLIC TEENY_VERSION="${PROJECT_VERSION}")
    target_link_libraries(teeny_tool PUBLIC teeny::teeny PRIVATE teeny_third_party)
    set_target_properties(teeny_tool PROPERTIES UNITY_BUILD ${TEENY_UNITY_BUILD}
                                                UNITY_BUILD_BATCH_SIZE 8)
    teeny_own_target(teeny_tool)
  endif()
  if(main)
    add_executable(teeny_program ${main})
    set_target_properties(teeny_program PROPERTIES OUTPUT_NAME teeny)
    target_include_directories(teeny_program PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(teeny_program PRIVATE teeny::teeny teeny_third_party)
    if(TARGET teeny_tool)
      target_link_libraries(teeny_program PRIVATE teeny_tool)
    endif()
    teeny_own_target(teeny_program)
    teeny_link_program(teeny_program)
    if(TARGET teeny_tool)
      set(completions "${PROJECT_BINARY_DIR}/share/bash-completion/completions")
      add_custom_command(
        TARGET teeny_program POST_BUILD
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${completions}"
        COMMAND teeny_program completions bash > "${completions}/teeny"
        VERBATIM)
    endif()
  endif()
endif()

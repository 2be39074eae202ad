# LLVM and lld inside of teenyc, for releases: teeny_llvm then links their static libraries and no
# shared one but the C library's. Only the processors that kernels are compiled for come along.
#
#   teeny_link_static_llvm(<interface library> <directory for a generated source>)

include_guard(GLOBAL)

set(TEENY_LLVM_PROCESSORS NVPTX X86 AArch64)

function(teeny_find_static_library name result)
  find_library(${result} NAMES "lib${name}.a" NO_CACHE REQUIRED)
  set(${result} "${${result}}" PARENT_SCOPE)
endfunction()

function(teeny_link_static_llvm target generated)
  set(components Passes LTO Option DebugInfoDWARF)
  foreach(processor IN LISTS TEENY_LLVM_PROCESSORS)
    foreach(part CodeGen Desc Info)
      list(APPEND components "${processor}${part}")
    endforeach()
    if(TARGET "LLVM${processor}AsmParser")
      list(APPEND components "${processor}AsmParser")
    endif()
  endforeach()
  llvm_map_components_to_libnames(libraries ${components})

  # What Debian's package files add to each: the shared libraries, and a solver that nothing here
  # calls.
  teeny_find_static_library(z zlib)
  teeny_find_static_library(zstd zstd)
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
                                               "LLVMDemangle;${zstd};${zlib};rt;dl;m")

  # Debian's LLVM starts a further optimiser at link time, which has a package of its own. It would
  # see bitcode, of which teenyc's linker has none.
  set(text "// Made by cmake/StaticLlvm.cmake.\n#include <llvm/Passes/PassPlugin.h>\n
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, \"none\", \"0\", [](llvm::PassBuilder&) {}};
}\n")
  if(TARGET LLVMExtensions)
    set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)
  endif()

  # lld starts every processor that LLVM was built with, for the same purpose.
  set(source "${generated}/llvm_link_time.cpp")
  foreach(processor IN LISTS LLVM_TARGETS_TO_BUILD)
    set(missing TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
    if(processor IN_LIST TEENY_LLVM_PROCESSORS)
      set(missing)
      if(NOT TARGET "LLVM${processor}AsmParser")
        set(missing AsmParser)
      endif()
    endif()
    foreach(part IN LISTS missing)
      set(function "LLVMInitialize${processor}${part}()")
      string(APPEND text "extern \"C\" void ${function};\nextern \"C\" void ${function} {}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${source}" CONTENT "${text}" @ONLY)
  add_library(teeny_llvm_link_time STATIC "${source}")
  target_include_directories(teeny_llvm_link_time SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  teeny_own_target(teeny_llvm_link_time)

  set_target_properties(lldCommon PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  set_target_properties(
    lldELF PROPERTIES INTERFACE_LINK_LIBRARIES
                      "lldCommon;teeny_llvm_link_time;${zlib};${zstd};${libraries}")
  target_link_libraries(${target} INTERFACE lldELF lldCommon ${libraries})
endfunction()

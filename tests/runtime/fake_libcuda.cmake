# A CUDA driver that is played (fake_libcuda.hpp): build/tests/fake_driver/libcuda.so.1. In a cross
# build it is one for a board that is played too.
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/fake_libcuda*.cpp")
add_library(fake_libcuda SHARED ${sources})
set_target_properties(
  fake_libcuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/fake_driver" PREFIX ""
                          OUTPUT_NAME "libcuda" SUFFIX ".so.1" NO_SONAME TRUE CXX_VISIBILITY_PRESET
                                                                              hidden)
target_link_options(fake_libcuda PRIVATE LINKER:-soname,libcuda.so.1)
target_link_libraries(fake_libcuda PRIVATE ${CMAKE_DL_LIBS})
# Its thread's state lies in static thread-local storage: the leak sanitizer follows the dynamic kind of
# a library into memory that was given back with it.
target_compile_options(fake_libcuda PRIVATE -ftls-model=initial-exec)
teeny_own_target(fake_libcuda)

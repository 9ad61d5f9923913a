# Flags that hold for all of our own code.
add_library(kernelscope_options INTERFACE)
target_include_directories(kernelscope_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(kernelscope_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers>)
if(KERNELSCOPE_WERROR)
  target_compile_options(kernelscope_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(KERNELSCOPE_SANITIZE)
  target_compile_options(kernelscope_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${KERNELSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined>)
  target_link_options(kernelscope_options INTERFACE -fsanitize=${KERNELSCOPE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # sees std::variant uninitialised where the sanitizers' checks cut its analysis short
    target_compile_options(kernelscope_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # A precompiled header changes its time stamp, not its meaning.
  set(ccache ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
             CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache})
endif()

# Two cores and two gigabytes a torch file: never more jobs at once than the machine holds.
set_property(GLOBAL PROPERTY JOB_POOLS heavy=2)

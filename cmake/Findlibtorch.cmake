# libtorch as imported targets, without the wheel's own CMake files (those demand a whole CUDA Toolkit, run a GPU
# detection program and add architecture flags of their own).
#   libtorch::cpu    headers, libtorch_cpu, libc10
#   libtorch::openmp the OpenMP runtime it uses, where it brings one
#   libtorch::cuda   the same with libtorch_cuda and libc10_cuda, where KERNELSCOPE_CUDA wants it
#   kernelscope_torch_executable(target)   so that a program finds these libraries where it was built and installed
if(TARGET libtorch::cpu)
  set(libtorch_FOUND TRUE)
  return()
endif()

set(_hints ${KERNELSCOPE_TORCH_DIR} $ENV{KERNELSCOPE_TORCH_DIR})
find_path(libtorch_ROOT_DIR NAMES include/ATen/ATen.h HINTS ${_hints} NO_DEFAULT_PATH)
if(NOT libtorch_ROOT_DIR)
  message(FATAL_ERROR "No libtorch in '${_hints}': run tools/setup.sh, or set KERNELSCOPE_TORCH_DIR to a libtorch or to site-packages/torch")
endif()
set(_lib ${libtorch_ROOT_DIR}/lib)

# GLOBAL: the tests and the programs link these from other folders.
function(_libtorch_library name file)
  add_library(libtorch::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(libtorch::${name} PROPERTIES IMPORTED_LOCATION ${_lib}/${file})
endfunction()

_libtorch_library(c10 libc10.so)
_libtorch_library(torch_cpu libtorch_cpu.so)

add_library(libtorch::cpu INTERFACE IMPORTED GLOBAL)
target_include_directories(libtorch::cpu INTERFACE
  ${libtorch_ROOT_DIR}/include ${libtorch_ROOT_DIR}/include/torch/csrc/api/include)
target_link_libraries(libtorch::cpu INTERFACE libtorch::torch_cpu libtorch::c10)

# The OpenMP runtime that torch's threads belong to, as the wheel brings it: a second one would make threads of its own.
file(GLOB _openmp ${_lib}/libgomp*.so* ${_lib}/libiomp5*.so*)
if(_openmp)
  list(GET _openmp 0 _openmp)
  add_library(libtorch::openmp SHARED IMPORTED GLOBAL)
  set_target_properties(libtorch::openmp PROPERTIES IMPORTED_LOCATION ${_openmp})
endif()

# The wheel keeps the NVIDIA libraries beside torch. The linker needs to see them, the program finds them by rpath.
file(GLOB _nvidia ${libtorch_ROOT_DIR}/../nvidia/*/lib)
set(_directories ${_lib} ${_nvidia})
list(TRANSFORM _directories REPLACE "/torch/\\.\\./" "/")
foreach(_directory ${_directories})
  target_link_options(libtorch::cpu INTERFACE -Wl,-rpath-link,${_directory})
endforeach()
target_link_options(libtorch::cpu INTERFACE -Wl,--allow-shlib-undefined)
set_property(GLOBAL PROPERTY libtorch_RPATH ${_directories})

if(KERNELSCOPE_CUDA)
  if(NOT EXISTS ${_lib}/libtorch_cuda.so)
    message(FATAL_ERROR "${libtorch_ROOT_DIR} is a libtorch without CUDA: use the preset no-cuda, or another KERNELSCOPE_TORCH_DIR")
  endif()
  _libtorch_library(c10_cuda libc10_cuda.so)
  _libtorch_library(torch_cuda libtorch_cuda.so)
  add_library(libtorch::cuda INTERFACE IMPORTED GLOBAL)
  # libtorch_cuda registers its operators when it is loaded: nothing refers to it by symbol, so keep it.
  target_link_libraries(libtorch::cuda INTERFACE libtorch::cpu CUDA::cudart
    -Wl,--no-as-needed libtorch::torch_cuda libtorch::c10_cuda -Wl,--as-needed)
endif()

function(kernelscope_torch_executable target)
  get_property(_rpath GLOBAL PROPERTY libtorch_RPATH)
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH ${_rpath})
endfunction()
set(libtorch_FOUND TRUE)

# libtorch as imported targets, without the wheel's own CMake files (those demand a whole CUDA Toolkit, run a GPU
# detection program and add architecture flags of their own).
#   libtorch::cpu    headers, libtorch_cpu, libc10
#   libtorch::cuda   the same with libtorch_cuda and libc10_cuda, where KERNELSCOPE_CUDA wants it
set(_hints ${KERNELSCOPE_TORCH_DIR} $ENV{KERNELSCOPE_TORCH_DIR})
find_path(libtorch_ROOT_DIR NAMES include/ATen/ATen.h HINTS ${_hints} NO_DEFAULT_PATH)
if(NOT libtorch_ROOT_DIR)
  message(FATAL_ERROR "No libtorch in '${_hints}': run tools/setup.sh, or set KERNELSCOPE_TORCH_DIR to a libtorch or to site-packages/torch")
endif()
set(_lib ${libtorch_ROOT_DIR}/lib)

add_library(libtorch::c10 SHARED IMPORTED)
set_target_properties(libtorch::c10 PROPERTIES IMPORTED_LOCATION ${_lib}/libc10.so)
add_library(libtorch::torch_cpu SHARED IMPORTED)
set_target_properties(libtorch::torch_cpu PROPERTIES IMPORTED_LOCATION ${_lib}/libtorch_cpu.so)

add_library(libtorch::cpu INTERFACE IMPORTED)
target_include_directories(libtorch::cpu INTERFACE
  ${libtorch_ROOT_DIR}/include ${libtorch_ROOT_DIR}/include/torch/csrc/api/include)
target_link_libraries(libtorch::cpu INTERFACE libtorch::torch_cpu libtorch::c10)

# The wheel keeps the NVIDIA libraries beside torch. The linker needs to see them, the program finds them by rpath.
file(GLOB _nvidia_lib ${libtorch_ROOT_DIR}/../nvidia/cu13/lib)
file(GLOB _nvidia_rest ${libtorch_ROOT_DIR}/../nvidia/*/lib)
set(libtorch_RPATH ${_lib} ${_nvidia_lib} ${_nvidia_rest})
list(REMOVE_DUPLICATES libtorch_RPATH)
foreach(_dir ${_nvidia_lib} ${_nvidia_rest})
  target_link_options(libtorch::cpu INTERFACE -Wl,-rpath-link,${_dir})
endforeach()
target_link_options(libtorch::cpu INTERFACE -Wl,-rpath-link,${_lib} -Wl,--allow-shlib-undefined)

if(KERNELSCOPE_CUDA)
  if(NOT EXISTS ${_lib}/libtorch_cuda.so)
    message(FATAL_ERROR "${libtorch_ROOT_DIR} is a libtorch without CUDA: use the preset no-cuda, or another KERNELSCOPE_TORCH_DIR")
  endif()
  add_library(libtorch::c10_cuda SHARED IMPORTED)
  set_target_properties(libtorch::c10_cuda PROPERTIES IMPORTED_LOCATION ${_lib}/libc10_cuda.so)
  add_library(libtorch::torch_cuda SHARED IMPORTED)
  set_target_properties(libtorch::torch_cuda PROPERTIES IMPORTED_LOCATION ${_lib}/libtorch_cuda.so)
  add_library(libtorch::cuda INTERFACE IMPORTED)
  # libtorch_cuda registers its operators when it is loaded: nothing refers to it by symbol, so keep it.
  target_link_libraries(libtorch::cuda INTERFACE libtorch::cpu CUDA::cudart
    -Wl,--no-as-needed libtorch::torch_cuda libtorch::c10_cuda -Wl,--as-needed)
endif()
set(libtorch_FOUND TRUE)

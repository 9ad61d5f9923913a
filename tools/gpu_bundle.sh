#!/usr/bin/env bash
# Gathers what a GPU machine without our libraries needs to run the engine, the command line and the GPU tests:
#   tools/gpu_bundle.sh FOLDER
# There: LD_LIBRARY_PATH=FOLDER:<torch>/lib:<nvidia>/cu13/lib FOLDER/kernelscope-cli profile
set -euo pipefail
source "$(dirname "$0")/environment.sh"

[ $# -eq 1 ] || die "usage: tools/gpu_bundle.sh FOLDER"
folder=$1
bin=${KERNELSCOPE_BUNDLE_FROM:-$ks_build/bin}
mkdir -p "$folder"
for program in kernelscope-engine kernelscope-cli kernel_gpu_tests model_gpu_tests measure_gpu_tests engine_gpu_tests own_kernel_gpu_tests; do
  [ -e "$bin/$program" ] || continue
  strip -o "$folder/$program" "$bin/$program"
done
strip --strip-unneeded -o "$folder/libkernelscope_kernels.so" "$bin/libkernelscope_kernels.so"
# Libraries of ours and of Debian that such a machine may lack; torch and CUDA come from its own wheel.
for program in "$folder"/kernelscope-*; do
  LD_LIBRARY_PATH=$folder ldd "$program" 2>/dev/null | awk '$3 ~ /lib(hwy|sqlite3|SQLiteCpp|curl|pcre2|utf8proc)/ {print $3}'
done | sort -u | while read -r library; do cp -L "$library" "$folder/"; done
du -sh "$folder" >&2

#!/usr/bin/env bash
# Sets up, configures where that has not been done, and builds the targets given (default: everything).
# A call with nothing to do takes a fraction of a second: what decides that is one stamp and ninja.
set -euo pipefail
source "$(dirname "$0")/environment.sh"

# Set-up again only when its script, the preset or the libraries asked for have changed.
mkdir -p "$ks_build" "$ks_cache"
wanted="$(cksum <"$ks_root/tools/setup.sh") ${KERNELSCOPE_TORCH_DIR:-}"
if [ "$(cat "$ks_build/setup-done" 2>/dev/null || true)" != "$wanted" ] || [ ! -e "$(cat "$ks_cache/torch-dir" 2>/dev/null)/lib/libtorch_cpu.so" ]; then
  "$ks_root/tools/setup.sh"
  rm -f "$ks_build/CMakeCache.txt"
  echo "$wanted" >"$ks_build/setup-done"
fi

if [ ! -e "$ks_build/build.ninja" ] || [ ! -e "$ks_build/CMakeCache.txt" ]; then
  export CCACHE_DIR=${CCACHE_DIR:-$ks_cache/ccache}
  options=(-DKERNELSCOPE_TORCH_DIR="$(cat "$ks_cache/torch-dir")")
  cuda=$(cat "$ks_cache/cuda-dir" 2>/dev/null || true)
  if [ "$ks_preset" != no-cuda ] && [ -n "$cuda" ]; then
    export CUDACXX=$cuda/bin/nvcc
    options+=(-DCUDAToolkit_ROOT="$cuda")
  fi
  say "configuring preset $ks_preset in build/$ks_preset"
  (cd "$ks_root" && cmake --preset "$ks_preset" "${options[@]}") >"$ks_build/configure.log" 2>&1 || {
    tail -n 30 "$ks_build/configure.log" >&2
    die "configuring failed; the whole log is build/$ks_preset/configure.log"
  }
fi

export CCACHE_DIR=${CCACHE_DIR:-$ks_cache/ccache}
# A torch file takes up to 2 GB of memory: no more jobs than the machine holds.
memory_gib=$(awk '/MemTotal/{print int($2/1048576)}' /proc/meminfo)
jobs=$(nproc)
[ "$jobs" -gt $((memory_gib / 2 + 1)) ] && jobs=$((memory_gib / 2 + 1))
# Says so only when it takes a while: a call with nothing to do is silent.
(sleep 2 >/dev/null 2>&1 && say "building (the first time takes 10 to 20 minutes on two cores); progress is in build/$ks_preset/build.log") &
notice=$!
ninja -C "$ks_build" -j "$jobs" "$@" >"$ks_build/build.log" 2>&1 || {
  kill "$notice" 2>/dev/null || true
  grep -E 'error|FAILED|fatal' "$ks_build/build.log" | head -n 30 >&2
  die "the build failed; the whole log is build/$ks_preset/build.log"
}
kill "$notice" 2>/dev/null || true
wait "$notice" 2>/dev/null || true

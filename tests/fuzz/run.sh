#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [TARGET...]]: builds the fuzz targets with clang and runs each for SECONDS (60) or
# KERNELSCOPE_FUZZ_RUNS executions (no bound), whichever comes first, KERNELSCOPE_FUZZ_JOBS (1) at once, at low priority.
# A run that seems to hang is one on a busy machine until ten minutes have passed. Inputs that break something stay in build/fuzz/crashes; what was found interesting in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(list config rpc_line safetensors weight_index run_document trace tokenizer_files text hub_listing kernel_source kernel_table)
source tests/fuzz/prepare.sh
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export build seconds runs=${KERNELSCOPE_FUZZ_RUNS:--1}
mkdir -p "$build/crashes"
fuzz_one() {
  local target=$1
  if ! nice -n 19 "$build/fuzz_$target" -max_total_time="$seconds" -runs="$runs" -timeout=600 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$build/crashes/$target-" "$build/corpus/$target" >"$build/$target.log" 2>&1; then
    { echo "fuzz: $target broke; see $build/$target.log and $build/crashes"; tail -n 30 "$build/$target.log"; } >&2
    return 1
  fi
  echo "fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log") executions, none broke" >&2
}
export -f fuzz_one
printf '%s\n' "${targets[@]}" | xargs -P "${KERNELSCOPE_FUZZ_JOBS:-1}" -I{} bash -c 'fuzz_one {}'

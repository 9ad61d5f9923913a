#!/usr/bin/env bash
# What is too long for every push: the tests under the sanitizers, each fuzz target for 20 minutes or 10 million executions, and 200 kills.
#   tools/nightly.sh [asan|tsan|fuzz|kills]...      default: all four
# asan: every test, address and undefined behaviour. tsan: core/records and core/client, thread sanitizer (Debian's Qt is not built for it).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(asan tsan fuzz kills)
status=0
run() { echo "nightly: $*" >&2; "$@" || { echo "nightly: failed: $*" >&2; status=1; }; }

export UBSAN_OPTIONS=print_stacktrace=1 QT_QPA_PLATFORM=offscreen
# CUDA wants addresses that the sanitizer protects; glibc's rules for new and malloc are libtorch's own affair.
export ASAN_OPTIONS=protect_shadow_gap=0:alloc_dealloc_mismatch=0:detect_stack_use_after_return=0
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=second_deadlock_stack=1

for part in "${parts[@]}"; do
  case $part in
    asan)
      run env KERNELSCOPE_PRESET=asan tools/build.sh
      (cd build/asan && run ctest --output-on-failure --timeout 3600) || status=1 ;;
    tsan)
      run env KERNELSCOPE_PRESET=tsan tools/build.sh records_tests client_tests
      run build/tsan/bin/records_tests
      run build/tsan/bin/client_tests ;;
    fuzz) run env KERNELSCOPE_FUZZ_RUNS=10000000 tests/fuzz/run.sh 1200 ;;
    kills)
      run tools/build.sh kernelscope_cli kernelscope_engine soak_window
      run tests/soak/kills.py --build build/dev --kills 200 ;;
    *) echo "nightly: asan, tsan, fuzz or kills, not $part" >&2; exit 64 ;;
  esac
done
exit $status

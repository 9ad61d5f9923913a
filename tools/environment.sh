# Sourced by setup.sh, run.sh and test.sh: where things live. No side effects beyond variables.
# shellcheck shell=bash

ks_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ks_cache=${KERNELSCOPE_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelscope}
ks_preset=${KERNELSCOPE_PRESET:-dev}
ks_build=$ks_root/build/$ks_preset
ks_torch_version=2.11.0
ks_venv=$ks_cache/torch-$ks_torch_version

say() { printf 'kernelscope: %s\n' "$*" >&2; }
die() { say "$*"; exit 4; }

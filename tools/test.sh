#!/usr/bin/env bash
# Sets up, builds and runs every test that this machine can run. Arguments go to ctest (-R records, ...).
set -euo pipefail
source "$(dirname "$0")/environment.sh"

"$ks_root/tools/build.sh"
cd "$ks_build"
export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
exec ctest --output-on-failure -j "$(nproc)" "$@"

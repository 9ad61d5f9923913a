#!/usr/bin/env bash
# Sets up, builds, and opens the window. With arguments: passes them to kernelscope-cli. Without a display: profiles the
# default model and prints the table.
set -euo pipefail
source "$(dirname "$0")/environment.sh"

"$ks_root/tools/build.sh" kernelscope_gui kernelscope_cli kernelscope_engine
if [ $# -gt 0 ]; then
  exec "$ks_build/bin/kernelscope-cli" "$@"
fi
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$ks_build/bin/kernelscope"
fi
say "no display here (DISPLAY and WAYLAND_DISPLAY are empty): profiling the default model instead of opening the window."
say "for the window: run this in a desktop session, or through 'ssh -X', or under Xvfb ('xvfb-run -a tools/run.sh')."
exec "$ks_build/bin/kernelscope-cli" profile

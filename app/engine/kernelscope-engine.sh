#!/bin/sh
# Finds libtorch on this machine, then becomes the engine. In this order: KERNELSCOPE_TORCH_DIR (a libtorch or site-packages/torch),
# the torch of python3, the one that the project's set-up has fetched. Exit code 4 and words where there is none that fits.
here=$(dirname "$(readlink -f "$0")")
engine=${KERNELSCOPE_ENGINE_BINARY:-$here/../libexec/kernelscope/kernelscope-engine}
tried=

# Whether this is a libtorch that the engine can load; else adds to $tried what is wrong with it.
fits() {
  if [ ! -e "$1/lib/libtorch_cpu.so" ]; then
    tried="$tried
  $2: $1 has no lib/libtorch_cpu.so"
  elif grep -q libtorch_cuda.so "$engine" && [ ! -e "$1/lib/libtorch_cuda.so" ]; then
    tried="$tried
  $2: $1 is a libtorch without CUDA, and this engine is built with it"
  else
    return 0
  fi
  return 1
}

torch_of_python() {
  command -v python3 >/dev/null 2>&1 || return 1
  python3 - <<'PY' 2>/dev/null
import importlib.util, pathlib, re, sys
spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:
    sys.exit(1)
root = pathlib.Path(spec.origin).parent
version = re.search(r"__version__ = '(\d+)\.(\d+)", (root / "version.py").read_text())
if version is None or (int(version[1]), int(version[2])) < (2, 11):
    sys.exit(1)
print(root)
PY
}

torch=
if [ -n "${KERNELSCOPE_TORCH_DIR:-}" ]; then
  # Chosen by the user: nothing else is taken in its place.
  fits "$KERNELSCOPE_TORCH_DIR" KERNELSCOPE_TORCH_DIR && torch=$KERNELSCOPE_TORCH_DIR
else
  found=$(torch_of_python)
  if [ -n "$found" ]; then
    fits "$found" "torch of python3" && torch=$found
  else
    tried="
  torch of python3: none that is 2.11 or newer"
  fi
  cache=${KERNELSCOPE_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/kernelscope}/torch-dir
  if [ -z "$torch" ] && [ -r "$cache" ]; then
    found=$(cat "$cache")
    fits "$found" "$cache" && torch=$found
  elif [ -z "$torch" ]; then
    tried="$tried
  $cache: not there"
  fi
fi
if [ -z "$torch" ]; then
  echo "kernelscope-engine: no libtorch to run in. Tried:$tried
  Install torch 2.11 or newer for python3 (python3 -m pip install torch), or set KERNELSCOPE_TORCH_DIR to a libtorch or to site-packages/torch." >&2
  exit 4
fi

# The wheel keeps the NVIDIA libraries beside torch.
libraries=$torch/lib
for folder in "$torch"/../nvidia/*/lib; do
  [ -d "$folder" ] && libraries=$libraries:$folder
done
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$engine" "$@"

#!/usr/bin/env bash
# Makes this machine able to build Kernelscope: Debian packages, libtorch, and a CUDA compiler where there is none.
# Every step is skipped when its result is already there. Prints nothing when there is nothing to do.
set -euo pipefail
source "$(dirname "$0")/environment.sh"

packages=(
  build-essential cmake ninja-build ccache pkg-config git ca-certificates python3 python3-venv python3-pip
  qt6-base-dev qt6-svg-dev libqt6opengl6-dev libqcustomplot-dev qt6-qpa-plugins libgl1-mesa-dev
  nlohmann-json3-dev libcli11-dev libfmt-dev libsqlitecpp-dev libsqlite3-dev
  libpcre2-dev libutf8proc-dev libhwy-dev libcurl4-openssl-dev
  libgtest-dev libgmock-dev xvfb xauth x11-utils xdotool fonts-inter fonts-dejavu-core binutils
)

install_packages() {
  local missing=()
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null | awk '$2=="installed"{print $1}')
  for package in "${packages[@]}"; do
    grep -qx -- "$package" <<<"$installed" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      say "installing ${missing[*]}"
      sudo -n apt-get update -qq && sudo -n DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
      return
    fi
    die "these Debian packages are missing; install them, then run this again:
  sudo apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

torch_in_python3() {
  python3 - <<'PY' 2>/dev/null
import importlib.util, pathlib, re, sys
spec = importlib.util.find_spec("torch")
root = pathlib.Path(spec.origin).parent
version = re.search(r"__version__ = '([^']+)'", (root / "version.py").read_text()).group(1)
major, minor = (int(x) for x in version.split("+")[0].split(".")[:2])
if (major, minor) < (2, 11) or not (root / "include/torch/csrc/api/include/torch/torch.h").exists():
    sys.exit(1)
print(root)
PY
}

# Leaves the libtorch folder's path in $ks_cache/torch-dir.
find_or_install_torch() {
  mkdir -p "$ks_cache"
  if [ -n "${KERNELSCOPE_TORCH_DIR:-}" ]; then
    [ -e "$KERNELSCOPE_TORCH_DIR/lib/libtorch_cpu.so" ] ||
      die "KERNELSCOPE_TORCH_DIR is $KERNELSCOPE_TORCH_DIR, but it has no lib/libtorch_cpu.so; point it at a libtorch or at site-packages/torch, or unset it"
    remember_torch "$KERNELSCOPE_TORCH_DIR"; return
  fi
  local known
  known=$(cat "$ks_cache/torch-dir" 2>/dev/null || true)
  [ -n "$known" ] && [ -e "$known/lib/libtorch_cpu.so" ] && return
  local found
  if found=$(torch_in_python3) && [ -n "$found" ]; then remember_torch "$found"; return; fi
  if [ ! -e "$ks_venv/complete" ]; then
    say "fetching libtorch $ks_torch_version (once, about 4.6 GB in $ks_venv)"
    rm -rf "$ks_venv"
    python3 -m venv "$ks_venv"
    "$ks_venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "torch==$ks_torch_version" numpy >&2
    touch "$ks_venv/complete"
  fi
  remember_torch "$(echo "$ks_venv"/lib/python3*/site-packages/torch)"
}
remember_torch() {
  [ "$(cat "$ks_cache/torch-dir" 2>/dev/null || true)" = "$1" ] || echo "$1" >"$ks_cache/torch-dir"
}

# Leaves the CUDA Toolkit's root in $ks_cache/cuda-dir (an empty file: none wanted).
find_or_install_cuda() {
  if [ "$ks_preset" = no-cuda ]; then return; fi
  local known
  known=$(cat "$ks_cache/cuda-dir" 2>/dev/null || true)
  [ -n "$known" ] && [ -x "$known/bin/nvcc" ] && return
  local nvcc root
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
    if [ -n "$nvcc" ] && [ -x "$nvcc" ]; then
      root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
      if [ -e "$root/include/cuda_runtime.h" ]; then  # not a wrapper script that stands elsewhere
        echo "$root" >"$ks_cache/cuda-dir"
        return
      fi
    fi
  done
  local venv=$ks_cache/cuda-13.0
  if [ ! -e "$venv/complete" ]; then
    say "no nvcc here: fetching the CUDA 13.0 compiler (once, about 0.5 GB in $venv)"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
      nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85 \
      nvidia-cuda-runtime==13.0.96 nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-cupti==13.0.85 >&2
    local toolkit library
    toolkit=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
    [ -e "$toolkit/lib64" ] || ln -s lib "$toolkit/lib64"  # where nvcc's own profile looks
    for library in "$toolkit"/lib/lib*.so.*; do
      [ -e "${library%%.so.*}.so" ] || ln -s "$(basename "$library")" "${library%%.so.*}.so"
    done
    touch "$venv/complete"
  fi
  echo "$venv"/lib/python3*/site-packages/nvidia/cu13 >"$ks_cache/cuda-dir"
}

if [ "$(uname -s)" != Linux ]; then die "set-up is written for Linux; elsewhere follow README.md, section 'By hand'"; fi
command -v dpkg-query >/dev/null || die "set-up knows Debian and Ubuntu; elsewhere install what tools/setup.sh lists and build with cmake --preset $ks_preset"
install_packages
find_or_install_torch
find_or_install_cuda

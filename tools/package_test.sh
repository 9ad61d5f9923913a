#!/usr/bin/env bash
# Packs the window and the engine, installs both in a clean Debian made with debootstrap, and starts them there.
#   tools/package_test.sh [FOLDER]     FOLDER (a temporary one by default) keeps the root and the packages
# Needs root, debootstrap and a Debian mirror: this machine's own, with its apt settings. Takes minutes; CI does not run it.
set -euo pipefail
source "$(dirname "$0")/environment.sh"

[ "$(id -u)" -eq 0 ] || die "debootstrap and chroot need root"
command -v debootstrap >/dev/null || die "debootstrap is not installed: apt-get install debootstrap"
torch=$(cat "$ks_cache/torch-dir" 2>/dev/null || true)
[ -n "$torch" ] || die "no libtorch is set up here: run tools/setup.sh first"
folder=${1:-$(mktemp -d /tmp/kernelscope-packages.XXXXXX)}
root=$folder/root
mkdir -p "$folder"

step() { say "$*"; }
expect() {  # expect CODE WORDS COMMAND...: the command ends with CODE and says WORDS
  local code=$1 words=$2 said status=0
  shift 2
  said=$("$@" 2>&1) || status=$?
  [ "$status" -eq "$code" ] || die "'$*' ended with $status instead of $code: $said"
  grep -qF -- "$words" <<<"$said" || die "'$*' did not say '$words': $said"
  say "ok: ${*: -3} ($words)"
}
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen "$@"; }

step "packing"
[ -n "${KERNELSCOPE_BUILD_FOLDER:-}" ] || "$ks_root/tools/build.sh" kernelscope_gui kernelscope_cli kernelscope_engine kernelscope_kernels
build=${KERNELSCOPE_BUILD_FOLDER:-$ks_build}
rm -f "$folder"/*.deb
(cd "$build" && cpack -G DEB -B "$folder" >"$folder/cpack.log" 2>&1) || { cat "$folder/cpack.log" >&2; die "cpack failed"; }
gui=$(ls "$folder"/kernelscope_*.deb) engine=$(ls "$folder"/kernelscope-engine_*.deb)
dpkg-deb -f "$gui" Depends | grep -Eiq 'torch|cuda|nvidia' && die "the window's package depends on torch or CUDA: $(dpkg-deb -f "$gui" Depends)"
say "$(dpkg-deb -f "$gui" Package Version Installed-Size Depends)"
say "$(dpkg-deb -f "$engine" Package Version Installed-Size Depends)"

unmount() {
  for place in "$root/torch" "$root/proc"; do mountpoint -q "$place" && umount "$place"; done
  [ $# -eq 0 ] || rm -rf "$folder"
}
if [ $# -eq 0 ]; then trap 'unmount all' EXIT; else trap unmount EXIT; fi

if [ ! -e "$root/made" ]; then
  # The suite and the mirror of this machine, whichever form its apt has them in.
  . /etc/os-release
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || die "this machine's apt knows no mirror of $VERSION_CODENAME"
  step "making a clean $VERSION_CODENAME"
  debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 || { tail -n 20 "$folder/debootstrap.log" >&2; die "debootstrap failed"; }
  cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d /etc/apt/trusted.gpg.d "$root/etc/apt/" 2>/dev/null || true
  cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
  touch "$root/made"
fi
mkdir -p "$root/torch" "$root/proc"
mount -t proc proc "$root/proc"
inside apt-get update -qq >"$folder/apt.log" 2>&1 || { tail -n 20 "$folder/apt.log" >&2; die "apt-get update failed in the clean root"; }
cp "$gui" "$engine" "$root/"
install_package() {
  inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "/$(basename "$1")" >>"$folder/apt.log" 2>&1 || { tail -n 20 "$folder/apt.log" >&2; die "$1 does not install"; }
}

step "the window and the command line alone"
install_package "$gui"
[ -z "$(inside find / -xdev -name 'libtorch*' -o -xdev -name 'libcuda*' | head -n 1)" ] || die "torch or CUDA came along"
expect 0 "kernelscope-cli " inside kernelscope-cli --version
expect 0 "There are no runs" inside kernelscope-cli runs list
expect 0 "first paint after" inside kernelscope --time-first-paint
expect 4 "there is no kernelscope-engine" inside kernelscope-cli profile --model qwen2.5-tiny
[ -e "$root/usr/share/applications/kernelscope.desktop" ] && [ -e "$root/usr/share/icons/hicolor/scalable/apps/kernelscope.svg" ] || die "the desktop file or the icon is missing"

step "the engine, without a libtorch and with one"
install_package "$engine"
expect 4 "no libtorch to run in" inside kernelscope-engine --version
expect 4 "has no lib/libtorch_cpu.so" inside env KERNELSCOPE_TORCH_DIR=/nowhere kernelscope-engine --version
# The wheel's folder, so that torch and the NVIDIA libraries beside it are seen as an installation has them.
mount --bind "$(dirname "$torch")" "$root/torch"
expect 0 "kernelscope-engine " inside env KERNELSCOPE_TORCH_DIR=/torch/torch kernelscope-engine --version
expect 0 "RMSNorm" inside env KERNELSCOPE_TORCH_DIR=/torch/torch kernelscope-cli profile --model qwen2.5-tiny --device cpu --iterations 3 --warmup 1
expect 0 "Attention" inside kernelscope-cli runs show last
expect 0 "token" inside env KERNELSCOPE_TORCH_DIR=/torch/torch kernelscope-cli tokenize "the bundled tokenizer is found"
say "both packages install and start in a clean root"

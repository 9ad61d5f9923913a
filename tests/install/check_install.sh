#!/bin/sh
# What `cmake --install` lays out, and that it starts from there:  check_install.sh BUILD_FOLDER TORCH_FOLDER
set -eu
build=$1 torch=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
fail() { echo "$*"; exit 1; }

cmake --install "$build" --prefix "$prefix" >"$prefix/log" 2>&1 || { cat "$prefix/log"; fail "cmake --install failed"; }
for file in bin/kernelscope bin/kernelscope-cli bin/kernelscope-engine libexec/kernelscope/kernelscope-engine share/applications/kernelscope.desktop \
            share/icons/hicolor/scalable/apps/kernelscope.svg share/kernelscope/tokenizer/qwen2.5/merges.txt include/kernelscope/kernels.h; do
  [ -e "$prefix/$file" ] || fail "$file was not installed"
done
[ -n "$(find "$prefix" -name libkernelscope_kernels.so)" ] || fail "the kernels' library was not installed"
for program in bin/kernelscope bin/kernelscope-cli libexec/kernelscope/kernelscope-engine; do
  if readelf -d "$prefix/$program" | grep -E 'R(UN)?PATH' | grep -q /[a-z]*/; then
    readelf -d "$prefix/$program" | grep -E 'R(UN)?PATH' | grep -q 'ORIGIN' || fail "$program looks for libraries in a folder of the build machine"
  fi
done
for line in 'Exec=kernelscope %f' 'Icon=kernelscope' 'Type=Application'; do
  grep -qx "$line" "$prefix/share/applications/kernelscope.desktop" || fail "the desktop file lacks $line"
done

export HOME="$prefix/home" XDG_DATA_HOME="$prefix/data" QT_QPA_PLATFORM=offscreen
unset KERNELSCOPE_CACHE_DIR XDG_CACHE_HOME || true
"$prefix/bin/kernelscope-cli" --version | grep -q '^kernelscope-cli ' || fail "kernelscope-cli does not start"
KERNELSCOPE_TORCH_DIR=$torch "$prefix/bin/kernelscope-engine" --version | grep -q '^kernelscope-engine ' || fail "the engine does not start"
# The command line finds the engine beside it, the engine its resources and the machine's torch.
KERNELSCOPE_TORCH_DIR=$torch "$prefix/bin/kernelscope-cli" tokenize hello --csv - | grep -q hello || fail "the installed engine does not find the tokenizer"
code=0
words=$(KERNELSCOPE_TORCH_DIR=/nowhere "$prefix/bin/kernelscope-engine" --version 2>&1) || code=$?
[ "$code" -eq 4 ] || fail "without a libtorch the engine ended with $code instead of 4"
case $words in *"no libtorch to run in"*"/nowhere has no lib/libtorch_cpu.so"*"pip install torch"*) ;; *) fail "without a libtorch the engine said: $words" ;; esac
# The set-up's note of where its libtorch is counts where nothing else is found.
mkdir -p "$HOME/.cache/kernelscope" && echo "$torch" >"$HOME/.cache/kernelscope/torch-dir"
env -u KERNELSCOPE_TORCH_DIR PATH="$(dirname "$(command -v grep)")" "$prefix/bin/kernelscope-engine" --version | grep -q '^kernelscope-engine ' || fail "the set-up's libtorch was not found"
echo "the installed programs start and find each other"

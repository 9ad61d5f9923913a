#!/usr/bin/env bash
# tests/fuzz/bundle.sh [FOLDER]: builds the fuzz targets and puts them, the libraries they need beside the C library, their first inputs and
# fuzz.sh into FOLDER (build/fuzz-bundle), to be run on another x86-64 Linux machine with Python and nothing of ours:
#   fuzz.sh SECONDS JOBS_PER_TARGET OUTDIR [CORPUS.tgz]
# A stack there is of offsets; addr2line -Cfie build/fuzz/fuzz_TARGET OFFSET names them here, with the build that made the bundle.
set -euo pipefail
cd "$(dirname "$0")/../.."
bundle=${1:-build/fuzz-bundle}
source tests/fuzz/prepare.sh
mkdir -p "$bundle"
bundle=$(cd "$bundle" && pwd)
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
cp tests/fuzz/bundled/fuzz.sh tests/fuzz/bundled/fuzz.py "$bundle/"
for target in "$build"/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  strip -o "$parts/$name" "$target"
  ldd "$target" | awk '$3 ~ /^\// {print $3}' | grep -vE '/lib(c|m|dl|rt|pthread|resolv)\.so' | xargs -r -I{} cp -Lu {} "$parts/"
  # First inputs and regressions only: what a longer run found travels as the CORPUS.tgz that it wrote.
  mkdir -p "$parts/corpus/${name#fuzz_}"
  find "$build/corpus/${name#fuzz_}" -type f -size -16k | grep -vE '/[0-9a-f]{40}$' | xargs -r -I{} cp {} "$parts/corpus/${name#fuzz_}/"
done
tar -C "$parts" -czf "$bundle/fuzz.tgz" .
du -sh "$bundle" >&2

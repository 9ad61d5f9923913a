#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [TARGET...]]: builds the fuzz targets with clang and runs each for SECONDS (60), at low
# priority. Inputs that break something stay in build/fuzz/crashes; what was found interesting in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(safetensors config tokenizer_files text rpc_line list)
clang=${CLANGXX:-$(command -v clang++ || command -v clang++-14 || true)}
if [ -z "$clang" ]; then
  echo "fuzz: clang++ with libFuzzer is needed (Debian: clang and libclang-rt-dev), or set CLANGXX" >&2
  exit 4
fi

build=$PWD/build/fuzz
cmake -S tests/fuzz -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
nice -n 19 cmake --build "$build" -j2 -- --quiet

seed() {  # seed TARGET NAME: standard input becomes a first input
  mkdir -p "$build/corpus/$1"
  cat >"$build/corpus/$1/$2"
}
head -c 4000 tests/fixtures/checkpoints/tiny-tied-f32/model.safetensors | seed safetensors real-header
printf '\x38\0\0\0\0\0\0\0{"a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}1234' | seed safetensors small
for folder in tests/fixtures/checkpoints/tiny-*; do seed config "$(basename "$folder")" <"$folder/config.json"; done
{ printf '\0'; cat <<'JSON'
{"added_tokens":[{"id":7,"content":"<s>","special":true}],"normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\p{L}+|\\s+(?!\\S)"},"behavior":"Isolated","invert":false},{"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"Ġ":2,"ab":3},"merges":["a b"]}}
JSON
} | seed tokenizer_files json
printf '\1{"a": 0, "b": 1, "ab": 2}' | seed tokenizer_files vocabulary
printf '\2#version: 0.2\na b\nab b\n' | seed tokenizer_files merges
printf '\3[{"id": 3, "content": "<s>", "special": true}]' | seed tokenizer_files added
printf '\4{"added_tokens_decoder": {"3": {"content": "<s>", "special": true}}}' | seed tokenizer_files config
{ printf '\5'; cat resources/tokenizer/qwen2.5/chat_template.jinja; } | seed tokenizer_files chat
printf "abababc <s> e\xcc\x81te\xcc\x81 42  \xf0\x9f\xa6\x99\xff\n\n don't" | seed text mixed
printf '{"jsonrpc":"2.0","id":1,"method":"job.start","params":{"kind":"profile","model":"qwen2.5-tiny","settings":{"iterations":3},"skip":["a"]}}' | seed rpc_line request
printf '{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"version":"0.1","build":"x","devices":[{"id":"cpu","name":"x"}]}}' | seed rpc_line response
printf '{"jsonrpc":"2.0","method":"job.finished","params":{"status":"done"}}' | seed rpc_line notification
printf '1,8,64-1024x2,5-7' | seed list mixed

export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
mkdir -p "$build/crashes"
status=0
for target in "${targets[@]}"; do
  echo "fuzz: $target for $seconds s" >&2
  if ! nice -n 19 "$build/fuzz_$target" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$build/crashes/$target-" "$build/corpus/$target" >"$build/$target.log" 2>&1; then
    echo "fuzz: $target broke; see $build/$target.log and $build/crashes" >&2
    tail -n 30 "$build/$target.log" >&2
    status=1
  else
    grep -E 'number_of_executed_units|average_exec_per_sec' "$build/$target.log" >&2 || true
  fi
done
exit $status

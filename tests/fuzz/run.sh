#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [TARGET...]]: builds the fuzz targets with clang and runs each for SECONDS (60) or
# KERNELSCOPE_FUZZ_RUNS executions (no bound), whichever comes first, KERNELSCOPE_FUZZ_JOBS (1) at once, at low priority.
# A run that seems to hang is one on a busy machine until ten minutes have passed. Inputs that break something stay in build/fuzz/crashes; what was found interesting in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(list config rpc_line safetensors run_document trace tokenizer_files text)
clang=${CLANGXX:-$(command -v clang++ || command -v clang++-14 || true)}
if [ -z "$clang" ]; then
  echo "fuzz: clang++ with libFuzzer is needed (Debian: clang and libclang-rt-dev), or set CLANGXX" >&2
  exit 4
fi

build=$PWD/build/fuzz
cmake -S tests/fuzz -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
nice -n "${KERNELSCOPE_FUZZ_BUILD_NICE:-19}" cmake --build "$build" -j2 -- --quiet

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
printf '%s' '{"schema":1,"kind":"profile","run":{"id":"abc","when":"2026-11-30T00:00:00Z","settings":{"a":1},"seed":1,"status":"done"},"tax_pct":3,"rows":[{"phase":"decode","level":"type","name":"MLP","type":"MLP","calls":2,"span_us":1.5}],"samples":[{"row":"MLP","metric":"span_us","index":0,"value":1.5,"_key":"k"}]}' | seed run_document profile
printf '%s' '{"schema":1,"kind":"sweep","run":{"status":"running"},"rows":[{"op":"rms_norm","variant":"fused","dtype":"float16","hidden":896,"rows":8,"status":"ok"}]}' | seed run_document sweep
printf '%s' '{"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","tid":7,"ts":1,"dur":900},{"ph":"X","cat":"python_function","name":"nn.Module: Qwen2Attention_0","tid":7,"ts":2,"dur":600},{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","tid":7,"ts":3,"dur":5,"args":{"correlation":1}},{"ph":"X","cat":"kernel","name":"gemm","tid":"s","ts":1e3,"dur":40,"args":{"correlation":1}}]}' | seed trace modules
printf '%s' '[{"ph":"X","cat":"gpu_memcpy","name":"copy","ts":1,"dur":2}]' | seed trace bare
# Inputs that once broke something, or nearly.
for folder in tests/fuzz/regressions/*/; do
  [ -d "$folder" ] && mkdir -p "$build/corpus/$(basename "$folder")" && cp "$folder"* "$build/corpus/$(basename "$folder")/"
done

export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export build seconds runs=${KERNELSCOPE_FUZZ_RUNS:--1}
mkdir -p "$build/crashes"
fuzz_one() {
  local target=$1
  if ! nice -n 19 "$build/fuzz_$target" -max_total_time="$seconds" -runs="$runs" -timeout=600 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$build/crashes/$target-" "$build/corpus/$target" >"$build/$target.log" 2>&1; then
    { echo "fuzz: $target broke; see $build/$target.log and $build/crashes"; tail -n 30 "$build/$target.log"; } >&2
    return 1
  fi
  echo "fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log") executions, none broke" >&2
}
export -f fuzz_one
printf '%s\n' "${targets[@]}" | xargs -P "${KERNELSCOPE_FUZZ_JOBS:-1}" -I{} bash -c 'fuzz_one {}'

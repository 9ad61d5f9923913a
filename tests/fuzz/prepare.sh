# Sourced by run.sh and bundle.sh: builds the fuzz targets into build/fuzz and lays out their first inputs in build/fuzz/corpus. Sets build.
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
printf '%s' '{"metadata":{"total_size":8},"weight_map":{"model.embed_tokens.weight":"model-00001-of-00002.safetensors","lm_head.weight":"model-00002-of-00002.safetensors"}}' | seed weight_index two
printf '%s' '{"sha":"0123456789abcdef0123456789abcdef01234567","siblings":[{"rfilename":"config.json","size":2,"blobId":"0123456789abcdef0123456789abcdef01234567"},{"rfilename":"a/model.safetensors","size":8,"lfs":{"sha256":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","size":8}}]}' | seed hub_listing two
for template in resources/kernel_templates/*; do seed kernel_source "$(basename "$template")" <"$template"; done
printf '%s\n' '// kernelscope: operator = rms_norm' '// kernelscope: kernel = k<T>' '// kernelscope: types = float16, float32' '// kernelscope: block = min(256, hidden), 1' '// kernelscope: grid = ceil_div(rows, 8)' '// kernelscope: shared = block * element_size' '// kernelscope: requires = hidden % 8 == 0 && !(alignment < 16)' '// kernelscope: devices = sm_80+, sm_90' '// kernelscope: options = -O3' | seed kernel_source every-key
printf '%s' '{"schema":1,"gpu":"NVIDIA H200","cells":[{"op":"rms_norm","launch":"plain","hidden":896,"rows":8,"config":"128x1","trigger":"top","prefetch":"all","blocks_per_sm":0}]}' | seed kernel_table one
# Inputs that once broke something, or nearly.
for folder in tests/fuzz/regressions/*/; do
  if [ -d "$folder" ]; then
    mkdir -p "$build/corpus/$(basename "$folder")"
    cp "$folder"* "$build/corpus/$(basename "$folder")/"
  fi
done

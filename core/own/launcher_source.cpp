#include "core/own/launcher_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/files.h"
#include "core/own/directives.h"
#include "core/own/side_file.h"
#include "kernelscope/kernels.h"

namespace kernelscope {
namespace {

std::string_view cudaType(int dtype) { return dtype == KS_FLOAT32 ? "float" : dtype == KS_FLOAT16 ? "__half" : "__nv_bfloat16"; }

/// The parameters of the C function: kernels.h has addresses without types, and int64_t.
std::string interfaceType(const Parameter& parameter) {
    if (parameter.kind == ParameterKind::real) return "float";
    if (parameter.kind == ParameterKind::number) return "int64_t";
    if (parameter.name == "positions") return "const int64_t*";
    return parameter.type.starts_with("const") ? "const void*" : "void*";
}

std::string argument(const Parameter& parameter) {
    if (parameter.kind != ParameterKind::pointer) return std::string(parameter.name);
    if (parameter.name == "positions") return "reinterpret_cast<const long long*>(positions)";
    return fmt::format("static_cast<{}>({})", parameter.type, parameter.name);
}

std::string sizes(const std::vector<Expression>& expressions) {
    std::vector<std::string> parts;
    for (const Expression& each : expressions) parts.push_back(fmt::format("static_cast<unsigned>({})", each.text()));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string launchOf(const CudaDirectives& directives, const ServedType& type, const std::string& parameters) {
    const Signature& signature = *directives.signature;
    std::vector<std::string> arguments;
    std::string alignments;
    for (const Parameter& parameter : signature.parameters) {
        arguments.push_back(argument(parameter));
        if (parameter.name.ends_with("_stride")) alignments += fmt::format("    alignment = min(alignment, low_bit({} * element_size));\n", parameter.name);
        else if (parameter.kind == ParameterKind::pointer && parameter.type.find('T') != std::string_view::npos) {
            alignments += fmt::format("    alignment = min(alignment, low_bit(reinterpret_cast<intptr_t>({})));\n", parameter.name);
        }
    }
    std::string text = fmt::format("int launch_{}({}, cudaStream_t stream) {{\n    using T = {};\n    if ({} == 0) return KS_OK;\n", typeName(type.dtype), parameters, cudaType(type.dtype), signature.rows);
    text += "    constexpr int64_t element_size = sizeof(T);\n"
            "    const auto min = [](int64_t a, int64_t b) { return a < b ? a : b; };\n"
            "    [[maybe_unused]] const auto max = [](int64_t a, int64_t b) { return a > b ? a : b; };\n"
            "    [[maybe_unused]] const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };\n"
            "    const auto low_bit = [](int64_t bytes) { return bytes == 0 ? int64_t{256} : bytes & -bytes; };\n"
            "    int64_t alignment = 256;\n" + alignments +
            "    int device = 0, processors = 0;\n    cudaGetDevice(&device);\n    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);\n"
            "    [[maybe_unused]] const int64_t multiprocessors = processors;\n";
    if (directives.requires_) text += fmt::format("    if (!({})) return KS_ERROR_CONFIG;  // what the kernel says it requires\n", directives.requires_->text());
    text += fmt::format("    const dim3 threads({});\n    [[maybe_unused]] const int64_t block = static_cast<int64_t>(threads.x) * threads.y * threads.z;\n    const dim3 blocks({});\n", sizes(directives.block), sizes(directives.grid));
    text += fmt::format("    const size_t shared = {};\n", directives.shared ? directives.shared->text() : "0");
    text += fmt::format("    if (shared > 48 * 1024) {{\n        const cudaError_t allowed = cudaFuncSetAttribute({0}, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));\n"
                        "        if (allowed != cudaSuccess) return KS_ERROR_CUDA + allowed;\n    }}\n    {0}<<<blocks, threads, shared, stream>>>({1});\n", type.function, fmt::join(arguments, ", "));
    return text + "    const cudaError_t launched = cudaGetLastError();\n    return launched == cudaSuccess ? static_cast<int>(KS_OK) : KS_ERROR_CUDA + launched;\n}\n\n";
}

}  // namespace

Result<std::string> launcherSource(const KernelFile& file) {
    if (file.kind != KernelFileKind::cuda) return makeError(ErrorCode::usage, nameOf(file) + " is no CUDA source: it needs no launcher");
    const Result<DirectiveText> said = directiveText(file);
    if (!said) return said.error();
    const Result<CudaDirectives> directives = readDirectives(said->text, said->file);
    if (!directives) return directives.error();
    const Signature& signature = *directives->signature;
    std::vector<std::string> parameters, names;
    for (const Parameter& parameter : signature.parameters) {
        parameters.push_back(fmt::format("{} {}", interfaceType(parameter), parameter.name));
        names.emplace_back(parameter.name);
    }
    const std::string list = fmt::format("{}", fmt::join(parameters, ", "));
    std::string text = fmt::format("// Launches {0} as the C function ks_{1} of kernelscope/kernels.h. Written by Kernelscope from the header comment of {0}.\n"
                                   "#include <cstdint>\n\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n\n#include \"kernelscope/kernels.h\"\n#include \"{0}\"\n\nnamespace {{\n\n", nameOf(file), signature.op);
    for (const ServedType& type : directives->types) text += launchOf(*directives, type, list);
    text += fmt::format("}}  // namespace\n\nextern \"C\" int ks_{}({}, int dtype, void* stream) {{\n    switch (dtype) {{\n", signature.op, list);
    for (const ServedType& type : directives->types) {
        text += fmt::format("        case {}: return launch_{}({}, static_cast<cudaStream_t>(stream));\n", type.dtype == KS_FLOAT32 ? "KS_FLOAT32" : type.dtype == KS_FLOAT16 ? "KS_FLOAT16" : "KS_BFLOAT16",
                            typeName(type.dtype), fmt::join(names, ", "));
    }
    return text + "        default: return KS_ERROR_DTYPE;\n    }\n}\n";
}

}  // namespace kernelscope

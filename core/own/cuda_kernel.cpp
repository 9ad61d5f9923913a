#include "core/own/cuda_kernel.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/files.h"
#include "core/own/cuda_driver.h"
#include "core/own/occupancy.h"
#include "core/own/side_file.h"
#include "core/own/source_lines.h"
#include "kernelscope/kernels.h"

namespace kernelscope {
namespace {

constexpr std::string_view kIncludes = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";

/// Holds each kernel against the operator's parameters when it is compiled: the driver would read whatever lies behind the arguments.
/// Apart from the assertions, so that a message shows the assertion alone, with the line of the kernel.
constexpr std::string_view kChecks =
    "namespace kernelscope_check { template <class T> struct Kind { static constexpr char value = '?'; }; "
    "template <class T> struct Kind<T*> { static constexpr char value = 'p'; }; "
    "template <> struct Kind<float> { static constexpr char value = 'f'; }; "
    "template <> struct Kind<long> { static constexpr char value = sizeof(long) == 8 ? 'n' : '?'; }; "
    "template <> struct Kind<unsigned long> { static constexpr char value = sizeof(long) == 8 ? 'n' : '?'; }; "
    "template <> struct Kind<long long> { static constexpr char value = 'n'; }; "
    "template <> struct Kind<unsigned long long> { static constexpr char value = 'n'; }; "
    "template <class F> struct Takes; "
    "template <class... A> struct Takes<void (*)(A...)> { static constexpr char kinds[] = {Kind<A>::value..., 0}; }; "
    "__host__ __device__ constexpr bool same(const char* a, const char* b) { return *a == *b && (*a == 0 || same(a + 1, b + 1)); } } ";

char kindOf(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::pointer: return 'p';
        case ParameterKind::number: return 'n';
        case ParameterKind::real: return 'f';
    }
    return '?';
}

/// The function's own name: my_kernel of ns::my_kernel<float, 4>.
std::string identifierOf(const std::string& function) {
    std::string name = function.substr(0, function.find('<'));
    if (const std::size_t at = name.rfind(':'); at != std::string::npos) name.erase(0, at + 1);
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    return name;
}

std::string quoted(const std::string& path) {
    std::string text;
    for (const char c : path) text += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
    return text;
}

std::string wholeSource(const KernelFile& file, const CudaDirectives& directives) {
    const std::string path = quoted(toUtf8(file.path));
    std::string kinds;
    for (const Parameter& parameter : directives.signature->parameters) kinds += kindOf(parameter.kind);
    std::string source = fmt::format("{}#line 1 \"{}\"\n{}\n", kIncludes, path, file.contents);
    source += fmt::format("#line 1 \"kernelscope\"\n{}\n", kChecks);
    for (const ServedType& type : directives.types) {
        const std::int64_t line = std::max<std::int64_t>(1, lineOfWord(file.contents, identifierOf(type.function)));
        source += fmt::format("#line {} \"{}\"\nstatic_assert(kernelscope_check::same(kernelscope_check::Takes<decltype(&{})>::kinds, \"{}\"), \"{}: a kernel of {} takes ({})\");\n", line, path,
                              type.function, kinds, identifierOf(type.function), directives.signature->op, directives.signature->text());
    }
    return source;
}

/// Sizes of a model in the middle, for figures that need some: Qwen2.5-7B, 64 rows, everything aligned.
std::vector<KernelArgument> nominalArguments(const Signature& signature) {
    constexpr std::int64_t kHidden = 3584, kWidth = 18944, kRows = 64;
    std::vector<KernelArgument> arguments;
    for (const Parameter& parameter : signature.parameters) {
        const std::string_view name = parameter.name;
        if (parameter.kind == ParameterKind::pointer) arguments.emplace_back(static_cast<const void*>(nullptr));
        else if (parameter.kind == ParameterKind::real) arguments.emplace_back(1e-6F);
        else if (name == "rows" || name == "tokens") arguments.emplace_back(kRows);
        else if (name == "width" || (signature.op == "silu_mul" && name.ends_with("_stride"))) arguments.emplace_back(kWidth);
        else if (name == "q_heads") arguments.emplace_back(std::int64_t{28});
        else if (name == "kv_heads") arguments.emplace_back(std::int64_t{4});
        else if (name == "head_dim") arguments.emplace_back(std::int64_t{128});
        else arguments.emplace_back(kHidden);
    }
    return arguments;
}

nlohmann::json describeResources(const driver::Module& module, const CudaDirectives& directives, const driver::DeviceLimits& limits) {
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < directives.types.size(); ++i) {
        const ServedType& type = directives.types[i];
        const Result<driver::Resources> needs = module.resources(i);
        if (!needs) continue;
        nlohmann::json one{{"type", typeName(type.dtype)}, {"function", type.function}, {"registers", needs->registers}, {"shared_bytes", needs->sharedBytes}, {"local_bytes", needs->localBytes}};
        const Result<LaunchShape> shape = launchShape(directives, nominalArguments(*directives.signature), type.dtype, limits.multiprocessors);
        if (shape) {
            const auto threads = static_cast<int>(shape->block[0] * shape->block[1] * shape->block[2]);
            if (const Result<int> blocks = module.blocksPerMultiprocessor(i, threads, shape->sharedBytes)) {
                const Occupancy occupancy = occupancyOf(*needs, limits, threads, shape->sharedBytes, *blocks);
                one["block"] = threads;
                one["dynamic_shared_bytes"] = shape->sharedBytes;
                one["blocks_per_multiprocessor"] = *blocks;
                one["occupancy_pct"] = occupancy.percent;
                one["limited_by"] = occupancy.limitedBy;
            }
        }
        list.push_back(std::move(one));
    }
    return list;
}

/// One launch of the C ABI's arguments.
class Launcher {
public:
    Launcher(CudaDirectives directives, std::shared_ptr<driver::Module> module, const driver::DeviceLimits& limits)
        : m_directives(std::move(directives)), m_module(std::move(module)), m_limits(limits) {
        for (std::size_t i = 0; i < m_directives.types.size(); ++i) {
            const Result<driver::Resources> needs = m_module->resources(i);
            m_mostThreads.push_back(needs ? needs->threadsPerBlock : limits.threadsPerBlock);
        }
    }

    Result<void> operator()(std::span<const KernelArgument> arguments, int dtype, void* stream) const {
        const auto& types = m_directives.types;
        const auto type = std::find_if(types.begin(), types.end(), [&](const ServedType& each) { return each.dtype == dtype; });
        if (type == types.end()) return makeError(ErrorCode::usage, fmt::format("it does not serve {}", typeName(dtype)));
        const auto index = static_cast<std::size_t>(type - types.begin());
        const Result<LaunchShape> shape = launchShape(m_directives, arguments, dtype, m_limits.multiprocessors);
        if (!shape) return shape.error();
        if (shape->empty) return {};
        const std::int64_t threads = shape->block[0] * shape->block[1] * shape->block[2];
        if (threads > m_mostThreads[index]) {
            return makeError(ErrorCode::wrong, fmt::format("a block of {} threads needs more registers than there are; this kernel can have {}", threads, m_mostThreads[index]), "Use a smaller block, or __launch_bounds__.");
        }
        std::vector<void*> addresses;
        addresses.reserve(arguments.size());
        for (const KernelArgument& argument : arguments) {
            addresses.push_back(std::visit([](const auto& value) { return const_cast<void*>(static_cast<const void*>(&value)); }, argument));
        }
        return m_module->launch(index, shape->grid, shape->block, shape->sharedBytes, stream, addresses.data());
    }

private:
    CudaDirectives m_directives;
    std::shared_ptr<driver::Module> m_module;
    driver::DeviceLimits m_limits;
    std::vector<int> m_mostThreads;
};

}  // namespace

Result<CudaCompiled> compileCudaKernel(const KernelFile& file, int computeCapability) {
    const std::string path = toUtf8(file.path);
    const Result<DirectiveText> said = directiveText(file);
    if (!said) return said.error();
    Result<CudaDirectives> directives = readDirectives(said->text, said->file);
    if (!directives) return directives.error();
    if (!directives->serves(computeCapability)) {
        return makeError(ErrorCode::environment, fmt::format("{} says that it does not serve this GPU, sm_{}", nameOf(file), computeCapability), "Its line // kernelscope: devices = ... says which it does.");
    }
    NvrtcRequest request;
    request.source = wholeSource(file, *directives);
    request.name = path;
    request.computeCapability = computeCapability;
    request.options = directives->options;
    request.includeFolders = {toUtf8(file.path.parent_path())};
    for (const ServedType& type : directives->types) request.functions.push_back(type.function);
    Result<NvrtcResult> code = compileWithNvrtc(request);
    if (!code) return code.error();
    return CudaCompiled{std::move(*directives), std::move(*code)};
}

Result<CudaKernel> loadCudaKernel(const KernelFile& file, int device) {
    const Result<driver::DeviceLimits> limits = driver::limits(device);
    if (!limits) return limits.error();
    Result<CudaCompiled> compiled = compileCudaKernel(file, limits->computeCapability);
    if (!compiled) return compiled.error();
    Result<std::shared_ptr<driver::Module>> module = driver::Module::load(compiled->code.cubin, compiled->code.symbols);
    if (!module) return makeError(module.error().code, nameOf(file) + ": " + module.error().message);
    CudaKernel made;
    made.op = std::string(compiled->directives.signature->op);
    made.log = std::move(compiled->code.log);
    made.resources = describeResources(**module, compiled->directives, *limits);
    made.launch = Launcher(std::move(compiled->directives), std::move(*module), *limits);
    return made;
}

}  // namespace kernelscope

#include "core/own/own_kernel.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/device/cuda_support.h"
#include "core/model/files.h"
#include "core/ops/kernel_call.h"
#include "core/own/cuda_kernel.h"
#include "core/own/host_compiler.h"
#include "core/own/library.h"

namespace kernelscope {
namespace {

std::string_view kindName(KernelFileKind kind) {
    switch (kind) {
        case KernelFileKind::library: return "library";
        case KernelFileKind::host: return "c++";
        case KernelFileKind::cuda: return "cuda";
    }
    return "";
}

/// A copy under the version's name: the loader would hand out the old library again for the old path, and whoever builds a new one
/// over a library that is in use crashes its user.
Result<std::filesystem::path> copyOf(const KernelFile& file) {
    const Result<std::filesystem::path> cache = kernelCacheFolder();
    if (!cache) return cache.error();
    const std::filesystem::path copy = *cache / fmt::format("{}-{}.so", file.variant, file.version);
    std::error_code problem;
    if (std::filesystem::exists(copy, problem)) return copy;
    if (const Result<void> written = writeCacheFile(copy, file.contents); !written) return written.error();
    return copy;
}

Error notHere(const KernelFile& file, bool cuda) {
    if (cuda) return makeError(ErrorCode::environment, nameOf(file) + " holds kernels for the CPU, and this job runs on a CUDA device", "Use --device cpu.");
    const std::string what = nameOf(file) + " holds CUDA kernels, and this job runs on a CPU";
    const std::vector<DeviceInfo> gpus = cuda::devices();
    const bool anyGpu = std::any_of(gpus.begin(), gpus.end(), [](const DeviceInfo& gpu) { return gpu.problem.empty(); });
    if (anyGpu) return makeError(ErrorCode::environment, what, "Use --device cuda.");
    return makeError(ErrorCode::environment, what + ": no GPU can be used here",
                     "On this machine kernels in .cpp or .so run, on the CPU (kernelscope-cli kernel new writes a .cpp); for this one start the engine on a machine with a GPU: "
                     "--engine \"ssh HOST kernelscope-engine\", in the window under Device.");
}

/// A driver that refuses one launch of a library's kernel makes that kernel wrong there; one that has no code for this GPU, or whose context
/// is dead, ends the work.
Result<Tensors> judged(Result<Tensors> result, const std::string& name) {
    if (result || result.error().code != ErrorCode::environment) return result;
    const std::string& words = result.error().message;
    if (words.find("no kernel image") != std::string::npos) return makeError(ErrorCode::environment, fmt::format("{} holds no code for this GPU ({})", name, words), "Build it for this GPU's architecture.");
    if (!cuda::synchronize()) return result;
    return makeError(ErrorCode::wrong, words);
}

}  // namespace

Result<OwnKernel> OwnKernel::load(const std::string& path, const Device& device) {
    Result<KernelFile> read = readKernelFile(path);
    if (!read) return read.error();
    OwnKernel made;
    made.m_file = std::move(*read);
    if (made.m_file.kind == KernelFileKind::cuda) {
        if (!device.isCuda()) return notHere(made.m_file, false);
        Result<CudaKernel> kernel = loadCudaKernel(made.m_file, std::max<int>(0, device.torch.index()));
        if (!kernel) return kernel.error();
        made.m_operators = {kernel->op};
        made.m_log = std::move(kernel->log);
        made.m_resources = std::move(kernel->resources);
        made.m_launch = std::move(kernel->launch);
        made.m_file.contents.clear();
        return made;
    }
    Result<std::filesystem::path> library = std::filesystem::path();
    if (made.m_file.kind == KernelFileKind::host) {
        Result<HostCompiled> compiled = compileForHost(made.m_file);
        if (!compiled) return compiled.error();
        made.m_log = std::move(compiled->log);
        library = compiled->library;
    } else {
        library = copyOf(made.m_file);
    }
    if (!library) return library.error();
    Result<KernelLibrary> opened = openKernelLibrary(*library, made.m_file);
    if (!opened) return opened.error();
    made.m_library = std::move(opened->handle);
    const KernelDevice wanted = device.isCuda() ? KernelDevice::cuda : KernelDevice::cpu;
    for (const KernelEntry& entry : opened->entries) {
        if (entry.device == wanted) made.m_entries.push_back(entry);
    }
    if (made.m_entries.empty()) return notHere(made.m_file, device.isCuda());
    for (const KernelEntry& entry : made.m_entries) made.m_operators.emplace_back(entry.op);
    made.m_file.contents.clear();
    return made;
}

void OwnKernel::addTo(OperatorTable& operators) const {
    if (m_launch) {
        Variant described;
        described.name = m_file.variant;
        described.description = "your own";
        described.onCuda = true;
        Operator* op = operators.find(m_operators.front());
        op->add(op->fromLaunch(std::move(described), m_launch));
    }
    for (const KernelEntry& entry : m_entries) {
        Operator* op = operators.find(entry.op);
        Result<Variant> made = op->fromKernel(entry);
        if (!made) continue;  // its symbol names the operator, so its type is that operator's
        made->roundsLikeNative = false;
        // The library stays open as long as somebody may call it.
        made->run = [library = m_library, run = std::move(made->run), name = nameOf(m_file)](const Operands& operands) { return judged(run(operands), name); };
        op->add(std::move(*made));
    }
}

nlohmann::json OwnKernel::describe() const {
    return {{"file", toUtf8(m_file.path)}, {"variant", m_file.variant}, {"version", m_file.version}, {"kind", kindName(m_file.kind)},
            {"operators", m_operators},    {"log", m_log},              {"resources", m_resources}};
}

}  // namespace kernelscope

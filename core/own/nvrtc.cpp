#include "core/own/nvrtc.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/device/system.h"
#include "core/model/files.h"
#include "core/own/kernel_file.h"
#include "core/own/loaded_from.h"
#include "core/own/source_lines.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

// The part of NVRTC's binary interface that we use; its header is not in every toolkit and the library is opened at run time.
using Program = struct nvrtcProgramOpaque*;
using Status = int;
constexpr Status kSuccess = 0, kCompilation = 6;

/// The folders of a CUDA Toolkit that the user or the system names.
std::vector<fs::path> toolkits() {
    std::vector<fs::path> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable); value && *value) folders.push_back(fromUtf8(value));
    }
    folders.emplace_back("/usr/local/cuda");
    return folders;
}

/// Where NVRTC may lie: beside the CUDA runtime in use, in the wheels beside libtorch, where the loader looks, in the toolkits.
std::vector<std::string> placesOfLibrary() {
    std::vector<std::string> places;
    const auto inFolder = [&](const fs::path& folder) {
        std::error_code problem;
        for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
            if (fs::exists(folder / name, problem)) places.push_back(toUtf8(folder / name));
        }
    };
    std::error_code problem;
    std::vector<fs::path> families;  // folders of wheels: nvidia/cu13, nvidia/cuda_nvrtc, ...
    if (const fs::path folder = folderOfLoaded("libcudart.so"); !folder.empty()) {
        inFolder(folder);
        families.push_back(folder.parent_path().parent_path());
    }
    if (const fs::path folder = folderOfLoaded("libtorch_cpu.so"); !folder.empty()) families.push_back(folder.parent_path().parent_path() / "nvidia");
    for (const fs::path& family : families) {
        for (const auto& member : fs::directory_iterator(family, problem)) inFolder(member.path() / "lib");
    }
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) places.emplace_back(name);
    for (const fs::path& toolkit : toolkits()) {
        for (const char* folder : {"lib64", "lib"}) places.push_back(toUtf8(toolkit / folder / "libnvrtc.so"));
    }
    return places;
}

struct Library {
    std::string problem;
    fs::path file;
    const char* (*errorString)(Status) = nullptr;
    Status (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    Status (*destroy)(Program*) = nullptr;
    Status (*addName)(Program, const char*) = nullptr;
    Status (*compile)(Program, int, const char* const*) = nullptr;
    Status (*logSize)(Program, std::size_t*) = nullptr;
    Status (*log)(Program, char*) = nullptr;
    Status (*cubinSize)(Program, std::size_t*) = nullptr;
    Status (*cubin)(Program, char*) = nullptr;
    Status (*loweredName)(Program, const char*, const char**) = nullptr;
    Status (*architectureCount)(int*) = nullptr;
    Status (*architectures)(int*) = nullptr;

    Library() {
        const std::vector<std::string> names = placesOfLibrary();
        void* handle = nullptr;
        for (const std::string& name : names) {
            if ((handle = system::openLibrary(name.c_str()))) break;
        }
        if (!handle) {
            problem = fmt::format("NVRTC, the CUDA compiler as a library, is not found (looked for {})", fmt::join(names, ", "));
            return;
        }
        load(handle, "nvrtcGetErrorString", errorString);
        load(handle, "nvrtcCreateProgram", create);
        load(handle, "nvrtcDestroyProgram", destroy);
        load(handle, "nvrtcAddNameExpression", addName);
        load(handle, "nvrtcCompileProgram", compile);
        load(handle, "nvrtcGetProgramLogSize", logSize);
        load(handle, "nvrtcGetProgramLog", log);
        load(handle, "nvrtcGetCUBINSize", cubinSize);
        load(handle, "nvrtcGetCUBIN", cubin);
        load(handle, "nvrtcGetLoweredName", loweredName);
        load(handle, "nvrtcGetNumSupportedArchs", architectureCount);
        load(handle, "nvrtcGetSupportedArchs", architectures);
        file = fileOfSymbol(system::symbol(handle, "nvrtcCreateProgram"));
    }

private:
    template <typename Function>
    void load(void* handle, const char* name, Function& target) {
        target = reinterpret_cast<Function>(system::symbol(handle, name));
        if (!target && problem.empty()) problem = fmt::format("the NVRTC found here lacks {}: it is older than CUDA 11.2", name);
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

constexpr const char* kAdvice = "It ships with libtorch's wheel (nvidia-cuda-nvrtc) and with the CUDA Toolkit; set CUDA_HOME to a toolkit.";

/// Where cuda_fp16.h lies: beside the NVRTC in use first, since the two belong together.
Result<fs::path> headerFolder() {
    std::vector<fs::path> folders;
    std::error_code problem;
    const fs::path real = fs::canonical(library().file, problem);
    if (!problem) {
        const fs::path home = real.parent_path().parent_path();
        folders.push_back(home / "include");
        // A wheel of one package a library: nvidia/cuda_nvrtc/lib beside nvidia/cuda_runtime/include.
        for (const auto& sibling : fs::directory_iterator(home.parent_path(), problem)) folders.push_back(sibling.path() / "include");
        folders.push_back(home.parent_path() / "include");                // .../lib/x86_64-linux-gnu
        folders.push_back(home.parent_path().parent_path() / "include");  // .../targets/x86_64-linux/lib
    }
    for (const fs::path& toolkit : toolkits()) folders.push_back(toolkit / "include");
    for (const fs::path& folder : folders) {
        if (fs::exists(folder / "cuda_fp16.h", problem)) return folder;
    }
    std::vector<std::string> places;
    for (const fs::path& folder : folders) places.push_back(toUtf8(folder));
    return makeError(ErrorCode::environment, fmt::format("CUDA's headers (cuda_fp16.h) are not found in {}", fmt::join(places, ", ")),
                     "Install the CUDA Toolkit or the wheel nvidia-cuda-runtime, or set CUDA_HOME to a toolkit.");
}

Result<void> checkArchitecture(int computeCapability) {
    const Library& nvrtc = library();
    int count = 0;
    if (nvrtc.architectureCount(&count) != kSuccess || count <= 0) return {};
    std::vector<int> known(static_cast<std::size_t>(count));
    if (nvrtc.architectures(known.data()) != kSuccess || std::find(known.begin(), known.end(), computeCapability) != known.end()) return {};
    return makeError(ErrorCode::environment, fmt::format("This NVRTC ({}) makes no code for sm_{}; it knows sm_{}", toUtf8(nvrtc.file), computeCapability, fmt::join(known, ", sm_")),
                     "Use an NVRTC of another CUDA version: set CUDA_HOME.");
}

struct Destroy {
    void operator()(Program program) const { library().destroy(&program); }
};

std::string logOf(Program program) {
    std::size_t size = 0;
    if (library().logSize(program, &size) != kSuccess || size <= 1) return {};
    std::string text(size, '\0');
    if (library().log(program, text.data()) != kSuccess) return {};
    text.resize(size - 1);  // without its end mark
    return text;
}

}  // namespace

std::string nvrtcProblem() { return library().problem; }

Result<NvrtcResult> compileWithNvrtc(const NvrtcRequest& request) {
    const Library& nvrtc = library();
    if (!nvrtc.problem.empty()) return makeError(ErrorCode::environment, nvrtc.problem, kAdvice);
    if (const Result<void> known = checkArchitecture(request.computeCapability); !known) return known.error();
    const Result<fs::path> headers = headerFolder();
    if (!headers) return headers.error();

    Program raw = nullptr;
    if (const Status status = nvrtc.create(&raw, request.source.c_str(), request.name.c_str(), 0, nullptr, nullptr); status != kSuccess) {
        return makeError(ErrorCode::environment, fmt::format("NVRTC takes no program: {}", nvrtc.errorString(status)));
    }
    const std::unique_ptr<struct nvrtcProgramOpaque, Destroy> program(raw);
    for (const std::string& function : request.functions) {
        if (const Status status = nvrtc.addName(raw, function.c_str()); status != kSuccess) {
            return makeError(ErrorCode::badInput, fmt::format("{}: '{}' names no function: {}", request.name, function, nvrtc.errorString(status)));
        }
    }
    std::vector<std::string> options{"--std=c++17", "-lineinfo"};
    const bool ownArchitecture = std::any_of(request.options.begin(), request.options.end(), [](const std::string& option) { return option.find("-arch") != std::string::npos || option.find("--gpu-architecture") != std::string::npos; });
    if (!ownArchitecture) options.push_back(fmt::format("--gpu-architecture=sm_{}", request.computeCapability));
    for (const std::string& option : request.options) {
        if (option.find("-std") != std::string::npos) options.erase(options.begin());  // the source's own
        options.push_back(option);
    }
    for (const std::string& folder : request.includeFolders) options.push_back("-I" + folder);
    options.push_back("-I" + toUtf8(*headers));
    options.push_back("-I" + toUtf8(*headers / "cccl"));
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());

    const Status status = nvrtc.compile(raw, static_cast<int>(words.size()), words.data());
    NvrtcResult made;
    made.log = readableLog(logOf(raw));
    if (status != kSuccess) {
        const std::string name = toUtf8(fromUtf8(request.name).filename());
        if (status == kCompilation) return doesNotCompile(name, toUtf8(fromUtf8(request.name).stem()), logOf(raw));
        return makeError(ErrorCode::badInput, fmt::format("{} does not compile: {}{}{}", name, nvrtc.errorString(status), made.log.empty() ? "" : "\n", made.log));
    }
    std::size_t size = 0;
    if (nvrtc.cubinSize(raw, &size) != kSuccess || size == 0) return makeError(ErrorCode::environment, "NVRTC made no code for sm_" + std::to_string(request.computeCapability));
    made.cubin.resize(size);
    if (const Status got = nvrtc.cubin(raw, made.cubin.data()); got != kSuccess) return makeError(ErrorCode::environment, fmt::format("NVRTC keeps its code: {}", nvrtc.errorString(got)));
    for (const std::string& function : request.functions) {
        const char* symbol = nullptr;
        if (nvrtc.loweredName(raw, function.c_str(), &symbol) != kSuccess || !symbol) {
            return makeError(ErrorCode::badInput, fmt::format("{} defines no kernel '{}'", request.name, function));
        }
        made.symbols.emplace_back(symbol);
    }
    return made;
}

}  // namespace kernelscope

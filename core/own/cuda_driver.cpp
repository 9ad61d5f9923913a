#include "core/own/cuda_driver.h"

#include <fmt/format.h>

#include "core/device/system.h"

namespace kernelscope::driver {
namespace {

// The part of the driver's binary interface that we use, unchanged for a decade.
using Status = int;
constexpr Status kSuccess = 0;
namespace device_attribute {
constexpr int kThreadsPerBlock = 1, kMultiprocessors = 16, kThreadsPerMultiprocessor = 39, kMajor = 75, kMinor = 76, kSharedPerMultiprocessor = 81,
              kRegistersPerMultiprocessor = 82, kSharedPerBlockOptIn = 97, kBlocksPerMultiprocessor = 106, kReservedSharedPerBlock = 111;
}
namespace function_attribute {
constexpr int kThreadsPerBlock = 0, kShared = 1, kLocal = 3, kRegisters = 4, kDynamicShared = 8;
}
constexpr std::int64_t kSharedWithoutAsking = 48 * 1024;

struct Library {
    std::string problem;
    Status (*errorString)(Status, const char**) = nullptr;
    Status (*deviceGet)(int*, int) = nullptr;
    Status (*deviceAttribute)(int*, int, int) = nullptr;
    Status (*moduleLoad)(void**, const void*) = nullptr;
    Status (*moduleUnload)(void*) = nullptr;
    Status (*moduleFunction)(void**, void*, const char*) = nullptr;
    Status (*functionAttribute)(int*, int, void*) = nullptr;
    Status (*setFunctionAttribute)(void*, int, int) = nullptr;
    Status (*occupancy)(int*, void*, int, std::size_t) = nullptr;
    Status (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) = nullptr;

    Library() {
#ifdef _WIN32
        void* handle = system::openLibrary("nvcuda.dll");
#else
        void* handle = system::openLibrary("libcuda.so.1");
#endif
        if (!handle) {
            problem = "there is no CUDA driver on this machine (libcuda.so.1 not found)";
            return;
        }
        load(handle, "cuGetErrorString", errorString);
        load(handle, "cuDeviceGet", deviceGet);
        load(handle, "cuDeviceGetAttribute", deviceAttribute);
        load(handle, "cuModuleLoadData", moduleLoad);
        load(handle, "cuModuleUnload", moduleUnload);
        load(handle, "cuModuleGetFunction", moduleFunction);
        load(handle, "cuFuncGetAttribute", functionAttribute);
        load(handle, "cuFuncSetAttribute", setFunctionAttribute);
        load(handle, "cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy);
        load(handle, "cuLaunchKernel", launch);
    }

    [[nodiscard]] std::string words(Status status) const {
        const char* text = nullptr;
        return errorString(status, &text) == kSuccess && text ? text : fmt::format("error {}", status);
    }

private:
    template <typename Function>
    void load(void* handle, const char* name, Function& target) {
        target = reinterpret_cast<Function>(system::symbol(handle, name));
        if (!target && problem.empty()) problem = fmt::format("the CUDA driver here lacks {}", name);
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

}  // namespace

Result<DeviceLimits> limits(int device) {
    const Library& cuda = library();
    if (!cuda.problem.empty()) return makeError(ErrorCode::environment, cuda.problem);
    int handle = 0;
    if (const Status status = cuda.deviceGet(&handle, device); status != kSuccess) return makeError(ErrorCode::environment, cuda.words(status));
    const auto get = [&](int attribute) {
        int value = 0;
        return cuda.deviceAttribute(&value, attribute, handle) == kSuccess ? value : 0;
    };
    DeviceLimits found;
    found.computeCapability = 10 * get(device_attribute::kMajor) + get(device_attribute::kMinor);
    found.multiprocessors = get(device_attribute::kMultiprocessors);
    found.threadsPerMultiprocessor = get(device_attribute::kThreadsPerMultiprocessor);
    found.blocksPerMultiprocessor = get(device_attribute::kBlocksPerMultiprocessor);
    found.registersPerMultiprocessor = get(device_attribute::kRegistersPerMultiprocessor);
    found.sharedPerMultiprocessor = get(device_attribute::kSharedPerMultiprocessor);
    found.sharedPerBlock = get(device_attribute::kSharedPerBlockOptIn);
    found.reservedSharedPerBlock = get(device_attribute::kReservedSharedPerBlock);
    found.threadsPerBlock = get(device_attribute::kThreadsPerBlock);
    return found;
}

Result<std::shared_ptr<Module>> Module::load(const std::string& cubin, const std::vector<std::string>& symbols) {
    const Library& cuda = library();
    if (!cuda.problem.empty()) return makeError(ErrorCode::environment, cuda.problem);
    std::shared_ptr<Module> made(new Module);
    if (const Status status = cuda.moduleLoad(&made->m_module, cubin.data()); status != kSuccess) {
        return makeError(ErrorCode::environment, "the driver does not load the compiled kernel: " + cuda.words(status));
    }
    for (const std::string& symbol : symbols) {
        void* function = nullptr;
        if (const Status status = cuda.moduleFunction(&function, made->m_module, symbol.c_str()); status != kSuccess) {
            return makeError(ErrorCode::badInput, fmt::format("'{}' is no __global__ function: {}", symbol, cuda.words(status)));
        }
        made->m_functions.push_back(function);
        made->m_allowedShared.push_back(kSharedWithoutAsking);
    }
    return made;
}

Module::~Module() {
    if (m_module) library().moduleUnload(m_module);  // fails where the context is dead: nothing is left to unload then
}

Result<Resources> Module::resources(std::size_t kernel) const {
    const Library& cuda = library();
    Resources found;
    const auto get = [&](int attribute, int& value) { return cuda.functionAttribute(&value, attribute, m_functions.at(kernel)); };
    for (const Status status : {get(function_attribute::kRegisters, found.registers), get(function_attribute::kShared, found.sharedBytes),
                                get(function_attribute::kLocal, found.localBytes), get(function_attribute::kThreadsPerBlock, found.threadsPerBlock)}) {
        if (status != kSuccess) return makeError(ErrorCode::environment, "the driver does not say what the kernel needs: " + cuda.words(status));
    }
    return found;
}

Result<int> Module::blocksPerMultiprocessor(std::size_t kernel, int threads, std::int64_t dynamicShared) const {
    int blocks = 0;
    const Status status = library().occupancy(&blocks, m_functions.at(kernel), threads, static_cast<std::size_t>(dynamicShared));
    if (status != kSuccess) return makeError(ErrorCode::environment, "the driver does not say how many blocks fit: " + library().words(status));
    return blocks;
}

Result<void> Module::launch(std::size_t kernel, const std::array<std::int64_t, 3>& grid, const std::array<std::int64_t, 3>& block, std::int64_t sharedBytes, void* stream, void** arguments) {
    const Library& cuda = library();
    void* function = m_functions.at(kernel);
    if (sharedBytes > m_allowedShared[kernel]) {
        if (const Status status = cuda.setFunctionAttribute(function, function_attribute::kDynamicShared, static_cast<int>(sharedBytes)); status != kSuccess) {
            return makeError(ErrorCode::wrong, fmt::format("{} bytes of shared memory are more than a block can have here: {}", sharedBytes, cuda.words(status)));
        }
        m_allowedShared[kernel] = sharedBytes;
    }
    const auto size = [](std::int64_t value) { return static_cast<unsigned>(value); };
    const Status status = cuda.launch(function, size(grid[0]), size(grid[1]), size(grid[2]), size(block[0]), size(block[1]), size(block[2]), size(sharedBytes), stream, arguments, nullptr);
    if (status != kSuccess) return makeError(ErrorCode::wrong, "the driver refused the launch: " + cuda.words(status));
    return {};
}

}  // namespace kernelscope::driver

#pragma once
// The driver as far as loading and launching a kernel goes, opened at run time. A context is current wherever this is called.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/records/result.h"

namespace kernelscope::driver {

struct DeviceLimits {
    int computeCapability = 0;  ///< 90
    int multiprocessors = 0, threadsPerMultiprocessor = 0, blocksPerMultiprocessor = 0;
    int registersPerMultiprocessor = 0, sharedPerMultiprocessor = 0, sharedPerBlock = 0, reservedSharedPerBlock = 0, threadsPerBlock = 0;
};
/// Errors: environment.
Result<DeviceLimits> limits(int device);

/// What the compiler gave a kernel.
struct Resources {
    int registers = 0;     ///< a thread
    int sharedBytes = 0;   ///< static, a block
    int localBytes = 0;    ///< a thread: spilled registers and arrays that are indexed at run time
    int threadsPerBlock = 0;  ///< the most that registers allow
};

class Module {
public:
    /// Errors: environment, with the driver's words.
    static Result<std::shared_ptr<Module>> load(const std::string& cubin, const std::vector<std::string>& symbols);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    [[nodiscard]] Result<Resources> resources(std::size_t kernel) const;
    /// Blocks that fit on one multiprocessor at once.
    [[nodiscard]] Result<int> blocksPerMultiprocessor(std::size_t kernel, int threads, std::int64_t dynamicShared) const;
    /// `arguments`: addresses of the values. Errors: wrong, with the driver's words: the launch was refused.
    Result<void> launch(std::size_t kernel, const std::array<std::int64_t, 3>& grid, const std::array<std::int64_t, 3>& block, std::int64_t sharedBytes, void* stream, void** arguments);

private:
    Module() = default;
    void* m_module = nullptr;
    std::vector<void*> m_functions;
    std::vector<std::int64_t> m_allowedShared;  ///< dynamic shared memory asked for so far
};

}  // namespace kernelscope::driver

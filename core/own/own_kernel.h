#pragma once
// A kernel of the user's own, from a file to variants of the operators it serves.

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/device/device.h"
#include "core/ops/operator.h"
#include "core/own/kernel_file.h"
#include "core/records/result.h"

namespace kernelscope {

class OwnKernel {
public:
    /// Reads, compiles and loads. On a CUDA device the device has been activated for this thread. Errors: badInput with file:line where
    /// the file does not compile or is no kernel; usage; environment where it does not run on `device`.
    static Result<OwnKernel> load(const std::string& path, const Device& device);

    /// Adds the variant to every operator it serves.
    void addTo(OperatorTable& operators) const;

    [[nodiscard]] const std::string& variant() const { return m_file.variant; }
    [[nodiscard]] const std::string& version() const { return m_file.version; }
    [[nodiscard]] const std::vector<std::string>& operators() const { return m_operators; }
    /// {file, variant, version, kind, operators, log, resources}: for a run's header. Resources (CUDA source): one object an element type, with
    /// type, function, registers, shared_bytes, local_bytes, block, blocks_per_multiprocessor, occupancy_pct, limited_by.
    [[nodiscard]] nlohmann::json describe() const;

private:

    KernelFile m_file;
    std::vector<std::string> m_operators;
    std::string m_log;
    nlohmann::json m_resources = nlohmann::json::array();
    std::shared_ptr<void> m_library;
    std::vector<KernelEntry> m_entries;
    KernelLaunch m_launch;
};

}  // namespace kernelscope

#pragma once
// The kernel of the user's own that a job's settings name: read, loaded and offered like any other variant.

#include <memory>
#include <optional>
#include <string>

#include "core/engine/job.h"
#include "core/engine/settings.h"
#include "core/own/own_kernel.h"

namespace kernelscope {

/// `kernel`: a file on this machine. `kernel_version`: what it has to hold, once rows of it exist; empty: whatever it holds.
struct KernelSettings {
    std::string file, version;
};
KernelSettings readKernelSettings(SettingsReader& reader);

class JobKernel {
public:
    /// Nothing where the settings name no file. Errors: those of OwnKernel::load; badInput when the file is no longer what it was.
    static Result<JobKernel> load(const KernelSettings& settings, const Device& device);

    [[nodiscard]] bool given() const { return m_kernel.has_value(); }
    void addTo(OperatorTable& operators) const {
        if (m_kernel) m_kernel->addTo(operators);
    }
    [[nodiscard]] std::string variant() const { return m_kernel ? m_kernel->variant() : std::string(); }
    /// "rms_norm,rope": the operators it serves.
    [[nodiscard]] std::string operators() const;
    /// "rms_norm=my_norm,...": the patch that puts it into a model.
    [[nodiscard]] std::string patch() const;
    /// Into the answer: the version in the settings, what it is in the environment (`own_kernel`). Leaves no trace of a kernel that is not given.
    void describe(JobStarted& started) const;

private:
    std::optional<OwnKernel> m_kernel;
};

}  // namespace kernelscope

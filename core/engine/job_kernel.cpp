#include "core/engine/job_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelscope {

KernelSettings readKernelSettings(SettingsReader& reader) {
    KernelSettings settings;
    settings.file = reader.text("kernel", "");
    settings.version = reader.text("kernel_version", "");
    return settings;
}

Result<JobKernel> JobKernel::load(const KernelSettings& settings, const Device& device) {
    JobKernel made;
    if (settings.file.empty()) return made;
    if (device.isCuda()) {
        if (const Result<void> active = activate(device); !active) return active.error();
    }
    Result<OwnKernel> kernel = OwnKernel::load(settings.file, device);
    if (!kernel) return kernel.error();
    if (!settings.version.empty() && settings.version != kernel->version()) {
        return makeError(ErrorCode::badInput, fmt::format("{} has changed: the rows that are there belong to version {}, and the file is {} now", settings.file, settings.version, kernel->version()),
                         "Start a new run for the new version.");
    }
    made.m_kernel = std::move(*kernel);
    return made;
}

std::string JobKernel::operators() const { return m_kernel ? fmt::format("{}", fmt::join(m_kernel->operators(), ",")) : std::string(); }

std::string JobKernel::patch() const {
    std::string text;
    if (!m_kernel) return text;
    for (const std::string& op : m_kernel->operators()) text += fmt::format("{}{}={}", text.empty() ? "" : ",", op, m_kernel->variant());
    return text;
}

void JobKernel::describe(JobStarted& started) const {
    if (!m_kernel) {
        started.settings.erase("kernel");
        started.settings.erase("kernel_version");
        return;
    }
    started.settings["kernel_version"] = m_kernel->version();
    started.environment["own_kernel"] = m_kernel->describe();
}

}  // namespace kernelscope

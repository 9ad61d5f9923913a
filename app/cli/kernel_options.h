#pragma once
// What validate and sweep have in common: which operators, variants, shapes and types.

#include "app/cli/command.h"
#include "app/cli/own_kernel_option.h"

namespace kernelscope::cli {

class KernelOptions {
public:
    void define(CLI::App& app);
    /// The settings that were given; defaults are the engine's. Errors: usage.
    Result<nlohmann::json> settings() const;
    [[nodiscard]] const OwnKernelOption& kernel() const { return m_kernel; }
    [[nodiscard]] bool watch() const { return m_watch; }

private:
    OwnKernelOption m_kernel;
    bool m_watch = false;
    std::string m_ops, m_variants, m_hidden, m_rows, m_dtypes;
};

/// `name` as a LIST in the settings. Errors: usage, naming the option.
Result<void> putList(nlohmann::json& settings, const std::string& key, const std::string& option, const std::string& text);

}  // namespace kernelscope::cli

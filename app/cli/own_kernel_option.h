#pragma once
// --kernel FILE: one's own kernel as one more variant.

#include "app/cli/command.h"

namespace kernelscope::cli {

class OwnKernelOption {
public:
    void define(CLI::App& app);
    [[nodiscard]] bool given() const { return !m_file.empty(); }
    [[nodiscard]] const std::string& file() const { return m_file; }
    /// The file as the engine will look for it: absolute, where it is a file of this machine.
    [[nodiscard]] std::string path() const;
    /// What its variant is called.
    [[nodiscard]] std::string variant() const;
    void put(nlohmann::json& settings) const;

private:
    std::string m_file;
};

}  // namespace kernelscope::cli

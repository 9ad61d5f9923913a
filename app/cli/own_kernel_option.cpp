#include "app/cli/own_kernel_option.h"

#include <filesystem>

namespace kernelscope::cli {

namespace fs = std::filesystem;

void OwnKernelOption::define(CLI::App& app) {
    app.add_option("--kernel", m_file, "A kernel of your own (.cu, .cpp, or a .so with the C interface), as a variant named after the file; on the engine's machine")->type_name("FILE");
}

std::string OwnKernelOption::path() const {
    std::error_code problem;
    return fs::exists(m_file, problem) ? fs::absolute(m_file, problem).lexically_normal().string() : m_file;
}

std::string OwnKernelOption::variant() const { return fs::path(m_file).stem().string(); }

void OwnKernelOption::put(nlohmann::json& settings) const {
    if (given()) settings["kernel"] = path();
}

}  // namespace kernelscope::cli

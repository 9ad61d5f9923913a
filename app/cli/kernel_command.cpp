#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/cli/command.h"
#include "app/cli/engine_call.h"
#include "core/client/kernel_export.h"
#include "core/client/kernel_template.h"

namespace kernelscope::cli {

namespace {

class KernelCommand : public Command {
public:
    std::string name() const override { return "kernel"; }
    std::string summary() const override { return "A kernel of your own: new writes one to start from, export takes a proven one home"; }

    void define(CLI::App& app) override {
        app.require_subcommand(1);
        CLI::App* fresh = app.add_subcommand("new", "A commented kernel that passes validation");
        fresh->fallthrough();
        fresh->final_callback([this] { m_action = &KernelCommand::writeNew; });
        fresh->add_option("operator", m_op, fmt::format("{}", fmt::join(templateOperators(), ", ")))->required()->type_name("OPERATOR");
        fresh->add_option("file", m_file, "Where to; .cu for CUDA, .cpp for the CPU")->required()->type_name("FILE");
        CLI::App* taken = app.add_subcommand("export", "A validated kernel as a folder to take home: source, C header, PyTorch binding, report");
        taken->fallthrough();
        taken->final_callback([this] { m_action = &KernelCommand::exportOne; });
        taken->add_option("file", m_file, "The kernel, as it was validated")->required()->type_name("FILE");
        taken->add_option("--out", m_folder, "Where to; made when missing")->required()->type_name("FOLDER");
    }

    int run(const CommonOptions& common) override { return (this->*m_action)(common); }

private:
    int writeNew(const CommonOptions& common) {
        if (const auto written = writeKernelTemplate(m_op, m_file); !written) return report(written.error());
        say(common, fmt::format("wrote {}; next: kernelscope-cli validate --kernel {}", m_file, m_file.find(' ') == std::string::npos ? m_file : "'" + m_file + "'"));
        return 0;
    }

    int exportOne(const CommonOptions& common) {
        const auto store = openStoreToRead(common);
        if (!store) return report(store.error());
        auto proven = findProof(**store, m_file);
        if (!proven) return report(proven.error());
        if (proven->needsLauncher || proven->needsOptions) {
            const auto launcher = askEngine(common, "kernel.launcher", {{"file", proven->file.string()}});
            if (!launcher) return report(launcher.error());
            proven->launcher = launcher->value("text", "");
            proven->options = launcher->value("options", std::vector<std::string>{});
        }
        const auto written = exportKernel(**store, *proven, m_folder);
        if (!written) return report(written.error());
        for (const std::string& name : *written) say(common, name);
        return 0;
    }

    int (KernelCommand::*m_action)(const CommonOptions&) = nullptr;
    std::string m_op, m_file, m_folder;
};

}  // namespace

std::unique_ptr<Command> makeKernelCommand() { return std::make_unique<KernelCommand>(); }

}  // namespace kernelscope::cli

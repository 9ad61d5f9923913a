#include "core/client/kernel_export.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/client/export.h"
#include "core/client/file.h"
#include "core/client/kernel_versions.h"
#include "core/records/embedded.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

std::string textOf(std::string_view name) {
    for (const embedded::File& file : embedded::kernelExports()) {
        if (file.name == name) return std::string(file.text);
    }
    return {};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
    return text;
}

bool isIdentifier(const std::string& name) {
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
    return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)); });
}

std::string quotedList(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", replaced(replaced(word, "\\", "\\\\"), "\"", "\\\""));
    return text;
}

/// The recipe's words with the source's own: one of those that may stand once, the standard and the architecture, takes the place of ours.
std::vector<std::string> withOptions(std::vector<std::string> words, const std::vector<std::string>& options) {
    const auto kindOf = [](const std::string& word) {
        for (const std::string_view kind : {"std", "arch", "gpu-architecture"})
            if (const std::size_t at = word.find_first_not_of('-'); at != std::string::npos && word.compare(at, kind.size(), kind) == 0) return std::string(kind == "gpu-architecture" ? "arch" : kind);
        return std::string();
    };
    for (const std::string& option : options) {
        const std::string kind = kindOf(option);
        if (!kind.empty()) std::erase_if(words, [&](const std::string& word) { return kindOf(word) == kind; });
    }
    const auto at = std::find(words.begin(), words.end(), "-I");
    words.insert(at, options.begin(), options.end());
    return words;
}

/// How the library is built, in the folder itself.
struct Recipe {
    std::string library;
    std::vector<std::string> build, sources;
};

Recipe recipeOf(const KernelProof& proof) {
    const std::string name = proof.file.filename().string(), extension = proof.file.extension().string();
    if (extension == ".so") return {name, {}, {}};
    Recipe recipe{"lib" + proof.variant + ".so", {}, {name}};
    for (const KernelPart& part : proof.parts)
        if (!isSideFile(part.name, name)) recipe.sources.push_back(part.name);
    if (proof.needsLauncher) {
        const std::string launcher = proof.variant + "_launch.cu";
        recipe.sources.push_back(launcher);
        recipe.build = withOptions({"nvcc", "-std=c++17", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-I", ".", "-o", recipe.library, launcher}, proof.options);
    } else {
        recipe.build = withOptions({"c++", "-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared", "-I", ".", "-include", "kernelscope/kernels.h", "-o", recipe.library, name}, proof.options);
    }
    return recipe;
}

std::string bindingOf(const KernelProof& proof, const Recipe& recipe) {
    std::string text = textOf("head.py");
    for (const std::string& op : proof.operators) text += textOf(op + ".py");
    text = replaced(text, "@FILE@", proof.file.filename().string());
    text = replaced(text, "@NAME@", proof.variant);
    text = replaced(text, "@FIRST@", proof.operators.front());
    text = replaced(text, "@LIBRARY@", recipe.library);
    text = replaced(text, "@BUILD@", quotedList(recipe.build));
    return replaced(text, "@SOURCES@", quotedList(recipe.sources));
}

std::string readmeOf(const KernelProof& proof, const RunHeader& run, const Recipe& recipe) {
    const std::string name = proof.file.filename().string();
    std::string text = fmt::format("# {}\n\nA kernel of {}, validated by Kernelscope ({}, {}, run {}). `report.md` and `report.csv` have every cell.\n\n", name, fmt::join(proof.operators, ", "), run.device, run.when, run.id);
    text += fmt::format("- `{}`: the source, version {}\n- `kernelscope/kernels.h`: the C interface that it has\n", name, proof.version);
    for (const KernelPart& part : proof.parts) text += fmt::format("- `{}`: {}\n", part.name, isSideFile(part.name, name) ? "what it says of itself" : "what it includes");
    if (proof.needsLauncher) text += fmt::format("- `{}_launch.cu`: its launch as the C function\n", proof.variant);
    text += fmt::format("- `{0}_torch.py`: `import {0}_torch` binds it to PyTorch (torch.ops.{0})\n", proof.variant);
    if (!recipe.build.empty()) text += fmt::format("\nBuild it by hand, in this folder:\n\n    {}\n", fmt::join(recipe.build, " "));
    return text;
}

}  // namespace

Result<KernelProof> findProof(const Store& store, const fs::path& file) {
    KernelProof proof;
    std::error_code problem;
    proof.file = fs::absolute(file, problem).lexically_normal();
    Result<std::string> contents = readFile(proof.file);
    if (!contents) return contents.error();
    proof.contents = std::move(*contents);
    proof.variant = proof.file.stem().string();
    proof.needsLauncher = proof.file.extension() == ".cu";
    if (!isIdentifier(proof.variant)) return makeError(ErrorCode::usage, fmt::format("'{}' is no name that a Python module can have", proof.variant), "name the file with letters, digits and _, and validate it again");
    const std::string name = proof.file.filename().string();
    proof.parts = kernelParts(name, proof.contents, [folder = proof.file.parent_path()](const std::string& part) -> std::optional<std::string> {
        std::error_code none;
        if (!fs::is_regular_file(folder / part, none)) return std::nullopt;
        Result<std::string> text = readFile(folder / part);
        if (!text) return std::nullopt;
        return std::move(*text);
    });
    for (const KernelPart& part : proof.parts)
        if (part.name.starts_with("..") || fs::path(part.name).is_absolute())
            return makeError(ErrorCode::usage, fmt::format("{} includes {}, which lies outside its folder: the export would not build elsewhere", name, part.name), "put it beside the kernel, and validate again");
    proof.needsOptions = proof.file.extension() != ".so" && (proof.contents.find("kernelscope:") != std::string::npos || std::any_of(proof.parts.begin(), proof.parts.end(), [&](const KernelPart& part) { return isSideFile(part.name, name); }));
    proof.version = kernelVersion(proof.contents, proof.parts);
    const std::string& version = proof.version;
    const std::string advice = fmt::format("kernelscope-cli validate --cases all --kernel {}", file.string());
    const auto runs = store.runs();
    if (!runs) return runs.error();
    for (const RunSummary& summary : *runs) {
        if (summary.header.kind != RowSchema<ValidateRow>::kName || summary.header.status != RunStatus::done) continue;
        const auto run = store.run(summary.header.id);
        if (!run) continue;
        if (run->header.settings.value("kernel_version", "") != version) continue;
        const auto rows = store.rows(summary.header.id, std::string(RowSchema<ValidateRow>::kName));
        if (!rows) return rows.error();
        const KernelVersion found = versionOf(run->header, Finished{}, *rows, proof.variant);
        if (found.cells.empty()) continue;  // a run about others
        if (found.state != "right" && found.state != "other_order" && found.state != "refused") {
            return makeError(ErrorCode::wrong, fmt::format("{} as it stands is {}: {}", file.filename().string(), found.state, found.firstWrong), fmt::format("mend it, then {}", advice));
        }
        std::set<std::string> operators;
        bool anyRight = false;
        for (const RowRecord& record : *rows) {
            const auto row = rowFrom<ValidateRow>(record.values);
            if (!row || row->variant != proof.variant) continue;
            operators.insert(row->op);
            anyRight = anyRight || row->status == "ok" || row->status == "other_order";
        }
        if (!anyRight) continue;  // refused or skipped everywhere proves nothing
        proof.operators.assign(operators.begin(), operators.end());
        proof.runId = summary.header.id;
        return proof;
    }
    return makeError(ErrorCode::badInput, fmt::format("{} as it stands now has not passed validation: no finished run in {} is of this version", file.filename().string(), store.path().string()), advice);
}

Result<std::vector<std::string>> exportKernel(const Store& store, const KernelProof& proof, const fs::path& folder) {
    const auto run = store.run(proof.runId);
    if (!run) return run.error();
    std::error_code problem;
    if (fs::exists(folder, problem) && !fs::is_directory(folder, problem)) return makeError(ErrorCode::usage, folder.string() + " is there already, and no folder", "give another name");
    if (fs::is_directory(folder, problem) && !fs::is_empty(folder, problem) && !fs::exists(folder / "report.md", problem)) {
        return makeError(ErrorCode::usage, folder.string() + " holds other things already", "give a folder of its own");
    }
    const Recipe recipe = recipeOf(proof);
    const auto report = exportRun(store, proof.runId, ExportFormat::markdown);
    if (!report) return report.error();
    const auto figures = exportRun(store, proof.runId, ExportFormat::csv);
    if (!figures) return figures.error();
    std::vector<std::pair<std::string, std::string>> files{
        {proof.file.filename().string(), proof.contents},
        {"kernelscope/kernels.h", textOf("kernels.h")},
        {proof.variant + "_torch.py", bindingOf(proof, recipe)},
        {"README.md", readmeOf(proof, run->header, recipe)},
        {"report.md", *report},
        {"report.csv", *figures},
    };
    for (const KernelPart& part : proof.parts) files.emplace_back(part.name, part.contents);
    if (proof.needsLauncher) files.emplace_back(proof.variant + "_launch.cu", proof.launcher);
    std::vector<std::string> written;
    for (const auto& [name, text] : files) {
        const fs::path target = folder / name;
        if (const auto done = writeFileAtomically(target, text); !done) return done.error();
        written.push_back(target.string());
    }
    return written;
}

}  // namespace kernelscope

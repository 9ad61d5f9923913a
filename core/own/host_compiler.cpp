#include "core/own/host_compiler.h"

#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/files.h"
#include "core/own/program.h"
#include "core/own/side_file.h"
#include "core/own/source_lines.h"
#include "core/records/content_version.h"
#include "core/records/embedded.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

Words wordsOf(const char* variable, const char* fallback) {
    const char* value = std::getenv(variable);
    const std::string text = value && *value ? value : fallback;
    Words words;
    for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// The folder whose kernelscope/kernels.h the source includes.
Result<fs::path> headerFolder(const fs::path& cache) {
    const std::string_view text = embedded::kernelHeaders().front().text;
    const fs::path folder = cache / ("include-" + contentVersion(text));
    std::error_code problem;
    if (!fs::exists(folder / "kernelscope" / "kernels.h", problem)) {
        if (const Result<void> written = writeCacheFile(folder / "kernelscope" / "kernels.h", text); !written) return written.error();
    }
    return folder;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
    return text;
}

}  // namespace

Result<HostCompiled> compileForHost(const KernelFile& file) {
    const Result<fs::path> cache = kernelCacheFolder();
    if (!cache) return cache.error();
    const Result<fs::path> headers = headerFolder(*cache);
    if (!headers) return headers.error();
    const Result<Words> own = optionsOf(file);
    if (!own) return own.error();

    // What is compiled is what was read: the file may be saved again meanwhile. Its lines are said to be the user's.
    const std::string path = toUtf8(file.path);
    const fs::path source = *cache / fmt::format("{}-{}.cpp", file.variant, file.version);
    const std::string quoted = replaced(replaced(path, "\\", "\\\\"), "\"", "\\\"");
    if (const Result<void> written = writeCacheFile(source, fmt::format("#line 1 \"{}\"\n{}", quoted, file.contents)); !written) return written.error();

    const Words compiler = wordsOf("CXX", "c++");
    Words flags{"-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-fdiagnostics-color=never", "-fno-diagnostics-show-caret",
                "-I", headers->string(), "-I", file.path.parent_path().string(), "-include", "kernelscope/kernels.h"};
    append(flags, wordsOf("CXXFLAGS", ""));
    append(flags, *own);

    const auto noCompiler = [&](const Error& why) {
        return makeError(ErrorCode::environment, "No C++ compiler: " + why.message, "Install one (the package g++ or clang), or set CXX to yours.");
    };
    const auto broken = [&](const std::string& log) {
        std::error_code ignored;
        fs::remove(source, ignored);
        return doesNotCompile(nameOf(file), file.variant, log);
    };
    Words preprocess = compiler;
    append(preprocess, flags);
    const fs::path expanded = fs::path(source).replace_extension(".ii");  // to a file: its words alone are for people
    append(preprocess, {"-E", "-o", expanded.string(), source.string()});
    const Result<ProgramEnd> preprocessed = runToEnd(preprocess);
    if (!preprocessed) return noCompiler(preprocessed.error());
    if (preprocessed->code != 0) return broken(preprocessed->output);
    const Result<std::string> whole = readTextFile(expanded);
    std::error_code problem;
    fs::remove(expanded, problem);
    if (!whole) return whole.error();
    Words versionWords = compiler;
    append(versionWords, {"--version"});
    const Result<ProgramEnd> version = runToEnd(versionWords);
    if (!version) return noCompiler(version.error());

    const std::string key = contentVersion(fmt::format("{}\n{}\n{}", *whole, version->output, fmt::join(flags, "\n")));
    HostCompiled made;
    made.library = *cache / fmt::format("{}-{}.so", file.variant, key);
    const fs::path log = fs::path(made.library).replace_extension(".log");
    if (fs::exists(made.library, problem)) {
        if (const Result<std::string> kept = readTextFile(log); kept) made.log = *kept;
        fs::remove(source, problem);
        return made;
    }
    const fs::path draft = *cache / fmt::format("{}-{}.{}.so", file.variant, key, contentVersion(source.string()));
    Words compile = compiler;
    append(compile, flags);
    append(compile, {"-shared", "-Wl,-Bsymbolic", "-Wall", "-o", draft.string(), source.string()});
    const Result<ProgramEnd> compiled = runToEnd(compile);
    if (!compiled) return noCompiler(compiled.error());
    if (compiled->code != 0) return broken(compiled->output);
    fs::remove(source, problem);
    made.log = readableLog(compiled->output);
    if (!made.log.empty()) (void)writeCacheFile(log, made.log);
    fs::rename(draft, made.library, problem);
    if (problem) return makeError(ErrorCode::environment, fmt::format("Cannot write {}: {}", toUtf8(made.library), problem.message()));
    return made;
}

}  // namespace kernelscope

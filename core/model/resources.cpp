#include "core/model/resources.h"

#include <cstdlib>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/model/files.h"

namespace kernelscope {
namespace fs = std::filesystem;

Result<fs::path> findResource(const fs::path& relative) {
    std::vector<fs::path> roots;
    if (const char* chosen = std::getenv("KERNELSCOPE_RESOURCES"); chosen && *chosen) roots.push_back(fromUtf8(chosen));
    std::error_code problem;
    const fs::path program = fs::read_symlink("/proc/self/exe", problem);  // Linux; elsewhere the other places remain
    if (!problem) {
        roots.push_back(program.parent_path().parent_path() / "share" / "kernelscope");
        roots.push_back(program.parent_path().parent_path().parent_path() / "share" / "kernelscope");  // from libexec/kernelscope
        roots.push_back(program.parent_path() / "resources");
    }
#ifdef KERNELSCOPE_SOURCE_RESOURCES
    roots.push_back(fromUtf8(KERNELSCOPE_SOURCE_RESOURCES));
#endif
    std::string places;
    for (const fs::path& root : roots) {
        if (fs::exists(root / relative, problem)) return root / relative;
        places += (places.empty() ? "" : ", ") + toUtf8(root);
    }
    return makeError(ErrorCode::environment, fmt::format("the bundled {} is not found in {}", toUtf8(relative), places),
                     "Install the programs together with their share folder, or set KERNELSCOPE_RESOURCES to the resources folder of the source tree.");
}

}  // namespace kernelscope

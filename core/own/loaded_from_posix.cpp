#include <dlfcn.h>
#include <link.h>

#include "core/own/loaded_from.h"

namespace kernelscope {

std::filesystem::path fileOfSymbol(void* symbol) {
    Dl_info info{};
    return symbol && dladdr(symbol, &info) != 0 && info.dli_fname ? std::filesystem::path(info.dli_fname) : std::filesystem::path();
}

std::filesystem::path folderOfLoaded(const std::string& name) {
    struct Search {
        const std::string& name;
        std::filesystem::path folder;
    } search{name, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto* wanted = static_cast<Search*>(data);
            const std::filesystem::path file = info->dlpi_name ? info->dlpi_name : "";
            if (!file.filename().string().starts_with(wanted->name)) return 0;
            wanted->folder = file.parent_path();
            return 1;
        },
        &search);
    return search.folder;
}

}  // namespace kernelscope

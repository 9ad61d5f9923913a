#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <fmt/format.h>

#include "core/model/files.h"
#include "core/own/library.h"
#include "core/own/source_lines.h"
#include "kernelscope/abi.h"

namespace kernelscope {
namespace {

std::string_view machineName(unsigned machine) {
    switch (machine) {
        case EM_X86_64: return "x86-64";
        case EM_386: return "32-bit x86";
        case EM_AARCH64: return "64-bit ARM";
        case EM_ARM: return "32-bit ARM";
        case EM_PPC64: return "POWER";
        case EM_RISCV: return "RISC-V";
        default: return "another processor";
    }
}

constexpr unsigned kThisMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#elif defined(__powerpc64__)
    EM_PPC64;
#elif defined(__riscv)
    EM_RISCV;
#else
    EM_NONE;
#endif

/// The loader's words for these are about its own affairs.
Result<void> checkHeader(const KernelFile& file, const std::string& contents) {
    if (contents.size() < sizeof(Elf64_Ehdr) || contents.compare(0, SELFMAG, ELFMAG) != 0) {
        return makeError(ErrorCode::badInput, nameOf(file) + " is no shared library (it does not begin as an ELF file does)", "Link it with -shared.");
    }
    Elf64_Ehdr header;
    std::memcpy(&header, contents.data(), sizeof header);
    if (kThisMachine != EM_NONE && header.e_machine != kThisMachine) {
        return makeError(ErrorCode::badInput, fmt::format("{} is built for {}, and this machine is {}", nameOf(file), machineName(header.e_machine), machineName(kThisMachine)),
                         "Build it on this machine or for it.");
    }
    if (header.e_type != ET_DYN) return makeError(ErrorCode::badInput, nameOf(file) + " is an ELF file, but no shared library", "Link it with -shared.");
    return {};
}

/// A function of the library itself, not of one that it depends on.
void* ownSymbol(void* handle, const std::string& name) {
    void* found = dlsym(handle, name.c_str());
    link_map* map = nullptr;
    Dl_info info{};
    if (!found || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || dladdr(found, &info) == 0 || !info.dli_fname) return nullptr;
    return std::strcmp(info.dli_fname, map->l_name) == 0 ? found : nullptr;
}

/// Code for a GPU, or calls of what starts it: then pointers are the device's.
bool holdsCuda(const std::string& contents) {
    constexpr std::array<std::string_view, 4> kSigns{".nv_fatbin", "cudaLaunchKernel", "cuLaunchKernel", "libcudart"};
    return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) { return contents.find(sign) != std::string::npos; });
}

template <typename Function>
KernelFunction as(void* symbol) {
    return reinterpret_cast<Function>(symbol);
}

struct Known {
    const char* op;
    KernelFunction (*function)(void*);
};
constexpr std::array kKnown{Known{"rms_norm", as<RmsNormFunction>}, Known{"add_rms_norm", as<AddRmsNormFunction>}, Known{"silu_mul", as<SiluMulFunction>},
                            Known{"rope", as<RopeFunction>}};

Error noKernel(const KernelFile& file) {
    std::string names;
    for (const Known& known : kKnown) names += fmt::format("{}ks_cpu_{}", names.empty() ? "" : ", ", known.op);
    if (file.kind == KernelFileKind::host) {
        for (const Known& known : kKnown) {
            for (const char* prefix : {"ks_cpu_", "ks_"}) {
                const std::string name = std::string(prefix) + known.op;
                if (const std::int64_t line = lineOfWord(file.contents, name); line > 0) {
                    return makeError(ErrorCode::badInput, fmt::format("{}:{}: {} is named here, but no function of that name with the parameters of kernelscope/kernels.h is defined", toUtf8(file.path), line, name),
                                     fmt::format("kernelscope-cli kernel new {} FILE.cpp writes one with the right parameters.", known.op));
                }
            }
        }
    }
    return makeError(ErrorCode::badInput, nameOf(file) + " defines no kernel: none of " + names + " (nor the same without cpu_)",
                     file.kind == KernelFileKind::host ? "kernelscope-cli kernel new OPERATOR FILE.cpp writes one to start from." : "Export the function with C linkage and default visibility.");
}

}  // namespace

Result<KernelLibrary> openKernelLibrary(const std::filesystem::path& library, const KernelFile& file) {
    Result<std::string> read = file.kind == KernelFileKind::library ? Result<std::string>(file.contents) : readTextFile(library, std::uintmax_t{1} << 30U);
    if (!read) return read.error();
    const std::string& contents = *read;
    if (const Result<void> sane = checkHeader(file, contents); !sane) return sane.error();
    void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened && file.kind == KernelFileKind::library) opened = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);  // it may look for others beside itself
    if (!opened) {
        const char* words = dlerror();
        std::string why = words ? words : "the loader does not say why";
        if (const std::size_t at = why.find(library.string() + ": "); at == 0) why.erase(0, library.string().size() + 2);
        return makeError(ErrorCode::badInput, fmt::format("{} cannot be loaded: {}", nameOf(file), why));
    }
    KernelLibrary made;
    auto name = std::make_shared<std::string>(file.variant);
    made.handle = std::shared_ptr<void>(opened, [name](void* handle) { dlclose(handle); });
    if (void* version = ownSymbol(opened, "ks_abi_version")) {
        const int said = reinterpret_cast<int (*)()>(version)();
        if (said != KS_ABI_VERSION) {
            return makeError(ErrorCode::badInput, fmt::format("{} speaks version {} of the kernels' C interface, and this engine speaks {}", nameOf(file), said, KS_ABI_VERSION),
                             "Build it against this version's kernelscope/kernels.h.");
        }
    }
    const bool hostPointers = file.kind == KernelFileKind::host || !holdsCuda(contents);
    for (const Known& known : kKnown) {
        void* cpu = ownSymbol(opened, std::string("ks_cpu_") + known.op);
        void* plain = ownSymbol(opened, std::string("ks_") + known.op);
        if (cpu) made.entries.push_back({KernelDevice::cpu, known.op, *name, "your own", known.function(cpu)});
        if (plain && !(cpu && hostPointers)) {
            made.entries.push_back({hostPointers ? KernelDevice::cpu : KernelDevice::cuda, known.op, *name, "your own", known.function(plain)});
        }
    }
    if (made.entries.empty()) return noKernel(file);
    return made;
}

}  // namespace kernelscope

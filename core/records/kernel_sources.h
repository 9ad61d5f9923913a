#pragma once
// A kernel that is being worked on is more than one file: what its source includes from beside it, and what a side file says of it.
// The engine and the client both ask which version it is, each with its own way of reading files.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelscope {

/// A file that belongs to a kernel's source.
struct KernelPart {
    std::string name;  ///< from the source's folder: "tiles.cuh", "detail/load.cuh", "../common.cuh"
    std::string contents;
    bool operator==(const KernelPart&) const = default;
};

/// Reads a file named from the source's folder; nothing where there is none.
using ReadPart = std::function<std::optional<std::string>(const std::string& name)>;

/// The names in `#include "..."` lines, each once.
std::vector<std::string> quotedIncludes(std::string_view source);

/// What `#include "..."` finds beside the source `name`, and what that includes in turn, at most 256 files; then the side file, "NAME.toml" or
/// "NAME.json". What is not there is left to the compiler. A library (.so) has no parts.
std::vector<KernelPart> kernelParts(const std::string& name, std::string_view source, const ReadPart& read);

/// Is this the side file of the source `name`?
bool isSideFile(const std::string& part, const std::string& name);

/// contentVersion of the source alone, or of it and its parts.
std::string kernelVersion(std::string_view source, const std::vector<KernelPart>& parts);

}  // namespace kernelscope

#pragma once
// What a kernel's source says of itself may stand beside it instead: my_norm.cu.toml or my_norm.cu.json, with the keys of the header comment
// (directives.h). For sources that are generated, or that other tools own.

#include <string>
#include <string_view>
#include <vector>

#include "core/own/kernel_file.h"
#include "core/records/result.h"

namespace kernelscope {

/// Text whose `// kernelscope:` lines say what the kernel is, and the file to which its line numbers belong.
struct DirectiveText {
    std::string text, file;
};

/// The side file where there is one, else the source itself. Errors: badInput, as file:line (no TOML or JSON of keys and plain values; keys in
/// both places).
Result<DirectiveText> directiveText(const KernelFile& file);

/// The words of its `options`: what the source asks of its compiler. Errors: badInput.
Result<std::vector<std::string>> optionsOf(const KernelFile& file);

/// `key = value` lines or a JSON object as lines of a header comment, on the lines on which they stand.
Result<std::string> commentOf(std::string_view contents, const std::string& file);

}  // namespace kernelscope

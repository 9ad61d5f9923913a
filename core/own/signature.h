#pragma once
// The parameters of every operator's kernels: those of its C function, without type and stream.

#include <span>
#include <string>
#include <string_view>

namespace kernelscope {

enum class ParameterKind { pointer, number, real };  ///< an address, a 64-bit whole number, a float

struct Parameter {
    ParameterKind kind;
    std::string_view name;
    std::string_view type;  ///< as a kernel declares it; T is the element type
};

struct Signature {
    std::string_view op;
    std::span<const Parameter> parameters;
    std::string_view rows;  ///< the parameter that counts rows: what a launch has a block for, where nothing else is said

    /// "T* out, const T* x, ...": for messages.
    [[nodiscard]] std::string text() const;
};

/// Null for an unknown operator.
const Signature* findSignature(std::string_view op);
std::span<const Signature> signatures();

}  // namespace kernelscope

#pragma once
// What a kernel's source says of itself, in comments of the form `// kernelscope: key = value`, one key a line:
//
//   operator  rms_norm | add_rms_norm | silu_mul | rope                     which operator it is (CUDA; needed)
//   kernel    the __global__ function; T in it stands for the element type: my_kernel<T>   (CUDA; needed)
//   kernel.float16, kernel.bfloat16, kernel.float32                          the function for one type, where there is no template
//   types     which element types it serves                                  default: all three where T stands in `kernel`, else those named
//   block     threads of a block: one to three expressions                   default: 256
//   grid      blocks: one to three expressions                               default: rows (rope: tokens)
//   shared    bytes of dynamic shared memory: an expression                  default: 0
//   requires  an expression that must be true, else the call is refused      default: every shape is served
//   devices   sm_80+ (from there on), or a list: sm_89, sm_90                default: every GPU
//   options   more options for the compiler                                  (CUDA and C++)
//
// Expressions (expression.h) may use the kernel's own sizes and strides by name, and element_size, alignment (bytes that all rows are
// aligned to, at most 256), multiprocessors, and, in grid and shared, block (threads).

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/own/expression.h"
#include "core/own/signature.h"
#include "core/records/result.h"

namespace kernelscope {

/// Words of `// kernelscope: options = ...` alone: all that a C++ source has to say.
Result<std::vector<std::string>> compilerOptions(std::string_view source, const std::string& file);

struct ServedType {
    int dtype = 0;         ///< ks_dtype
    std::string function;  ///< as NVRTC takes it: my_kernel<__half>
};

struct CudaDirectives {
    const Signature* signature = nullptr;
    std::vector<ServedType> types;
    std::vector<Expression> block, grid;  ///< one to three
    std::optional<Expression> shared, requires_;
    struct Compute {
        int version = 0;       ///< 90: sm_90
        bool andAbove = false;
    };
    std::vector<Compute> devices;  ///< empty: every one
    std::vector<std::string> options;

    [[nodiscard]] bool serves(int computeCapability) const;
};

/// Errors: badInput, as file:line.
Result<CudaDirectives> readDirectives(std::string_view source, const std::string& file);

/// Names of the three types, as the command line has them.
std::string_view typeName(int dtype);

}  // namespace kernelscope

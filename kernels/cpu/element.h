#pragma once
// Storage of the element types, and the dispatch from a dtype code to one of them.

#include <cstdint>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels::cpu {

struct Float16 {
    uint16_t bits;
};
struct Bfloat16 {
    uint16_t bits;
};

/// Calls body(T{}) with the storage type of a dtype code that was checked before.
template <class Body>
void withElement(int dtype, Body body) {
    switch (dtype) {
        case KS_FLOAT32: body(float{}); break;
        case KS_FLOAT16: body(Float16{}); break;
        default: body(Bfloat16{}); break;
    }
}

}  // namespace kernelscope::kernels::cpu

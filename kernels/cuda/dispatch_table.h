#pragma once
// Which configuration runs at which shape, as data. Measured on: NVIDIA H200.
// Hidden sizes down (choice.h: kTableHidden; for silu_mul the widths of those models), row counts across (kTableRows). Programmatic: with
// programmatic dependent launch; plain: without it.

#include "kernels/cuda/choice.h"

namespace kernelscope::kernels::cuda {

inline constexpr char kTableDevice[] = "NVIDIA H200";

inline constexpr int kTop = KS_TRIGGER_TOP;
inline constexpr int kWait = KS_TRIGGER_AFTER_WAIT;
inline constexpr int kLoads = KS_TRIGGER_AFTER_LOADS;
inline constexpr int kEnd = KS_TRIGGER_END;
inline constexpr int kWeight = KS_PREFETCH_WEIGHT;
inline constexpr int kWave = KS_PREFETCH_FIRST_WAVE;
inline constexpr int kAll = KS_PREFETCH_ALL;

inline constexpr NamedGrid kRmsNormProgrammatic{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"112x1 r2", kWait, kWave, 0},
      {"112x1 r2 late", kWait, kWave, 0},
      {"ring 32x4 t16 6", kWait, kWave, 2},
      {"ring 32x4 t16 6", kWait, kWeight, 2}}},
    // 1536
    {{{"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"192x1", kWait, kAll, 0},
      {"192x1", kWait, kWave, 0},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"96x2 late", kWait, kWeight, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"ring 128x2 t2 2", kWait, kWave, 4},
      {"ring 128x2 t2 2", kWait, kWave, 4},
      {"128x2 late", kWait, kWeight, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kWait, kAll, 0},
      {"224x2", kWait, kWave, 0},
      {"ring 224x2 t2 3", kWait, kWave, 2},
      {"ring 224x2 t2 3", kWait, kWave, 2},
      {"224x2 two-pass", kWait, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"160x4 s2", kWait, kAll, 0},
      {"ring 320x2 t2 2", kWait, kWave, 1},
      {"ring 320x2 t2 3", kWait, kWave, 2},
      {"320x2 late", kWait, kWave, 0},
      {"320x2 two-pass", kWait, kWeight, 0}}},
    // 8192
    {{{"128x8 s8", kTop, kAll, 0},
      {"128x8 s8", kTop, kAll, 0},
      {"256x4 s4", kWait, kAll, 0},
      {"ring 128x8 t2 3", kWait, kWave, 2},
      {"ring 128x8 t2 4", kWait, kWave, 1},
      {"512x2 two-pass", kWait, kWave, 0},
      {"512x2 two-pass", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kRmsNormPlain{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"112x1 r2", kWait, kWave, 0},
      {"112x1 r2 late", kWait, kWave, 0},
      {"ring 32x4 t16 6", kWait, kWave, 2},
      {"ring 32x4 t16 6", kWait, kWeight, 2}}},
    // 1536
    {{{"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"192x1", kWait, kAll, 0},
      {"192x1", kWait, kWave, 0},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"96x2 late", kWait, kWeight, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"ring 128x2 t2 2", kWait, kWave, 4},
      {"ring 128x2 t2 2", kWait, kWave, 4},
      {"128x2 late", kWait, kWeight, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kWait, kAll, 0},
      {"224x2", kWait, kWave, 0},
      {"ring 224x2 t2 3", kWait, kWave, 2},
      {"ring 224x2 t2 3", kWait, kWave, 2},
      {"224x2 two-pass", kWait, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"160x4 s2", kWait, kAll, 0},
      {"ring 320x2 t2 2", kWait, kWave, 1},
      {"ring 320x2 t2 3", kWait, kWave, 2},
      {"320x2 late", kWait, kWave, 0},
      {"320x2 two-pass", kWait, kWeight, 0}}},
    // 8192
    {{{"128x8 s8", kTop, kAll, 0},
      {"128x8 s8", kTop, kAll, 0},
      {"256x4 s4", kWait, kAll, 0},
      {"ring 128x8 t2 3", kWait, kWave, 2},
      {"ring 128x8 t2 4", kWait, kWave, 1},
      {"512x2 two-pass", kWait, kWave, 0},
      {"512x2 two-pass", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kAddRmsNormProgrammatic{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"112x1 r2", kWait, kWave, 0},
      {"112x1 r2 late", kWait, kWave, 0},
      {"ring 32x4 t16 3", kWait, kWave, 1},
      {"112x1 r2 late", kWait, kWeight, 0}}},
    // 1536
    {{{"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"192x1", kWait, kAll, 0},
      {"192x1", kWait, kWave, 0},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"192x1 late", kWait, kWave, 0},
      {"192x1 late", kWait, kWeight, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"256x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1 late", kWait, kWave, 0},
      {"256x1 late", kWait, kWave, 0},
      {"256x1 late", kWait, kWeight, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2", kWait, kAll, 0},
      {"ring 224x2 t2 2", kWait, kWave, 2},
      {"448x1 late", kWait, kWave, 0},
      {"448x1 late", kWait, kWave, 0},
      {"448x1 late", kWait, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"320x2", kWait, kAll, 0},
      {"320x2", kWait, kWave, 0},
      {"ring 320x2 t2 2", kWait, kWave, 1},
      {"640x1 late", kWait, kWave, 0},
      {"320x2 late", kWait, kWeight, 0}}},
    // 8192
    {{{"256x4 s4", kTop, kAll, 0},
      {"256x4 s4", kTop, kAll, 0},
      {"512x2", kWait, kAll, 0},
      {"ring 256x4 t2 2", kWait, kWave, 1},
      {"ring 256x4 t2 2", kWait, kWave, 1},
      {"1024x1 late", kWait, kWave, 0},
      {"1024x1 late", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kAddRmsNormPlain{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"112x1 r2", kWait, kWave, 0},
      {"112x1 r2 late", kWait, kWave, 0},
      {"ring 32x4 t16 3", kWait, kWave, 1},
      {"112x1 r2 late", kWait, kWeight, 0}}},
    // 1536
    {{{"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"192x1", kWait, kAll, 0},
      {"192x1", kWait, kWave, 0},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"192x1 late", kWait, kWave, 0},
      {"192x1 late", kWait, kWeight, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"256x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1 late", kWait, kWave, 0},
      {"256x1 late", kWait, kWave, 0},
      {"256x1 late", kWait, kWeight, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2", kWait, kAll, 0},
      {"ring 224x2 t2 2", kWait, kWave, 2},
      {"448x1 late", kWait, kWave, 0},
      {"448x1 late", kWait, kWave, 0},
      {"448x1 late", kWait, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"320x2", kWait, kAll, 0},
      {"320x2", kWait, kWave, 0},
      {"ring 320x2 t2 2", kWait, kWave, 1},
      {"640x1 late", kWait, kWave, 0},
      {"320x2 late", kWait, kWeight, 0}}},
    // 8192
    {{{"256x4 s4", kTop, kAll, 0},
      {"256x4 s4", kTop, kAll, 0},
      {"512x2", kWait, kAll, 0},
      {"ring 256x4 t2 2", kWait, kWave, 1},
      {"ring 256x4 t2 2", kWait, kWave, 1},
      {"1024x1 late", kWait, kWave, 0},
      {"1024x1 late", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kSiluMulProgrammatic{{
    // 4864
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 8960
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 11008
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 18944
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 13824
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 29568
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kSiluMulPlain{{
    // 4864
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 8960
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 11008
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 18944
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 13824
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
    // 29568
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"256x1", kWait, kWeight, 0},
      {"256x1", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kRopeProgrammatic{{
    // 896
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 1536
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 2048
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 3584
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 5120
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 8192
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kRopePlain{{
    // 896
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 1536
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 2048
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 3584
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 5120
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 8192
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
}};

}  // namespace kernelscope::kernels::cuda

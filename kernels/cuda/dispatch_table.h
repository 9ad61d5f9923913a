#pragma once
// Which configuration runs at which shape, as data. Measured on: NVIDIA H200.
// Made by kernels/tune/make_table.py from the runs of `kernelscope-cli tune`; do not edit by hand.
//
// Hidden sizes down (choice.h: kTableHidden; for silu_mul the MLP widths of those models), row counts across (kTableRows). Programmatic:
// with programmatic dependent launch; plain: without. A cell: configuration, trigger, prefetch, most blocks on a multiprocessor.

#include "kernels/cuda/choice.h"

namespace kernelscope::kernels::cuda {

inline constexpr int kTop = KS_TRIGGER_TOP;
inline constexpr int kWait = KS_TRIGGER_AFTER_WAIT;
inline constexpr int kLoads = KS_TRIGGER_AFTER_LOADS;
inline constexpr int kEnd = KS_TRIGGER_END;
inline constexpr int kWeight = KS_PREFETCH_WEIGHT;
inline constexpr int kWave = KS_PREFETCH_FIRST_WAVE;
inline constexpr int kAll = KS_PREFETCH_ALL;
inline constexpr int kTable = KS_PREFETCH_TABLE;
inline constexpr int kHalf = KS_PREFETCH_HALF_WAVE;

inline constexpr NamedGrid kRmsNormProgrammatic{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"64x2", kTop, kAll, 1},
      {"112x1 r2", kTop, kWave, 4},
      {"56x2 r4", kWait, kWave, 0},
      {"ring 32x4 t16 3", kLoads, kWave, 1},
      {"56x2 r4", kWait, kWave, 0}}},
    // 1536
    {{{"96x2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"96x2", kTop, kAll, 1},
      {"96x2", kWait, kWave, 4},
      {"ring 96x2 t2 3", kTop, kWave, 2},
      {"ring 96x2 t2 3", kLoads, kWave, 4},
      {"96x2", kWait, kWave, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"128x2", kTop, kAll, 1},
      {"128x2", kWait, kWave, 4},
      {"ring 128x2 t2 3", kTop, kWave, 2},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2", kTop, kAll, 1},
      {"224x2", kWait, kWave, 0},
      {"ring 224x2 t2 3", kLoads, kWave, 2},
      {"224x2 two-pass", kWait, kWave, 0},
      {"224x2 two-pass", kLoads, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"160x4 s2", kTop, kAll, 2},
      {"160x4", kTop, kWave, 0},
      {"ring 320x2 t1 4", kWait, kWave, 2},
      {"320x2 two-pass", kWait, kWave, 0},
      {"320x2 two-pass", kWait, kWeight, 0}}},
    // 8192
    {{{"128x8 s8", kTop, kAll, 0},
      {"128x8 s8", kWait, kAll, 0},
      {"512x2", kTop, kAll, 1},
      {"ring 512x2 t1 4", kTop, kWave, 1},
      {"ring 128x8 t2 4", kTop, kWave, 1},
      {"512x2 two-pass", kWait, kWave, 0},
      {"512x2 two-pass", kEnd, kWave, 0}}},
}};

inline constexpr NamedGrid kRmsNormPlain{{
    // 896
    {{{"112x1 r2", kTop, kAll, 0},
      {"112x1 r2", kTop, kAll, 0},
      {"112x1 r2", kWait, kAll, 0},
      {"112x1 r2", kWait, kWave, 0},
      {"56x2 r4", kWait, kWave, 0},
      {"56x2 r4", kWait, kWave, 0},
      {"56x2 r4", kWait, kWeight, 0}}},
    // 1536
    {{{"96x2", kTop, kAll, 0},
      {"96x2", kTop, kAll, 0},
      {"96x2", kWait, kAll, 0},
      {"96x2 s2", kWait, kWave, 0},
      {"96x2", kWait, kWave, 0},
      {"96x2", kWait, kWave, 0},
      {"96x2", kWait, kWeight, 0}}},
    // 2048
    {{{"128x2", kTop, kAll, 0},
      {"128x2", kTop, kAll, 0},
      {"128x2", kWait, kAll, 0},
      {"128x2 s2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2", kWait, kAll, 0},
      {"224x2", kWait, kWave, 0},
      {"ring 224x2 t2 3", kWait, kWave, 2},
      {"224x2 two-pass", kWait, kWave, 0},
      {"224x2 two-pass", kWait, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kWait, kAll, 0},
      {"160x4", kWait, kWave, 0},
      {"320x2 two-pass", kWait, kWave, 0},
      {"320x2 two-pass", kWait, kWave, 0},
      {"320x2 two-pass", kWait, kWeight, 0}}},
    // 8192
    {{{"256x4 s4", kTop, kAll, 0},
      {"256x4 s4", kTop, kAll, 0},
      {"256x4 s4", kWait, kAll, 0},
      {"512x2 two-pass", kWait, kWave, 0},
      {"512x2 two-pass", kWait, kWave, 0},
      {"512x2 two-pass", kWait, kWave, 0},
      {"512x2 two-pass", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kAddRmsNormProgrammatic{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"112x1 r2", kTop, kAll, 0},
      {"64x2", kTop, kAll, 1},
      {"128x1", kTop, kWave, 4},
      {"112x1 r4 late", kTop, kWave, 0},
      {"112x1 r2", kTop, kWave, 0},
      {"128x1", kTop, kWave, 0}}},
    // 1536
    {{{"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 2},
      {"192x1", kTop, kWave, 4},
      {"ring 96x2 t2 3", kLoads, kWeight, 2},
      {"ring 96x2 t2 3", kWait, kWave, 4},
      {"96x2", kWait, kWave, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"128x2", kTop, kAll, 1},
      {"256x1", kTop, kWave, 0},
      {"128x2", kTop, kWeight, 0},
      {"128x2", kWait, kWave, 0},
      {"256x1 late", kWait, kWave, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2", kTop, kAll, 1},
      {"224x2", kTop, kWave, 0},
      {"224x2", kWait, kWave, 0},
      {"224x2", kWait, kWave, 0},
      {"224x2", kTop, kWeight, 0}}},
    // 5120
    {{{"128x5 s5", kTop, kAll, 0},
      {"128x5 s5", kTop, kAll, 0},
      {"160x4", kTop, kAll, 1},
      {"320x2 late", kTop, kWeight, 0},
      {"ring 320x2 t2 3", kTop, kWave, 1},
      {"640x1 late", kWait, kWave, 0},
      {"640x1 late", kWait, kWeight, 0}}},
    // 8192
    {{{"256x4 s4", kTop, kAll, 0},
      {"512x2 s2", kTop, kAll, 0},
      {"512x2", kTop, kAll, 1},
      {"512x2", kWait, kHalf, 0},
      {"512x2", kWait, kWave, 0},
      {"1024x1 late", kWait, kWave, 0},
      {"1024x1 late", kLoads, kWave, 0}}},
}};

inline constexpr NamedGrid kAddRmsNormPlain{{
    // 896
    {{{"112x1 r2", kTop, kAll, 0},
      {"112x1 r2", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"112x1 r2", kWait, kWave, 0},
      {"56x2 r4", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"112x1 r2", kWait, kWeight, 0}}},
    // 1536
    {{{"96x2 s2", kTop, kAll, 0},
      {"96x2 s2", kTop, kAll, 0},
      {"96x2", kWait, kAll, 0},
      {"96x2 s2", kWait, kWave, 0},
      {"96x2 late", kWait, kWave, 0},
      {"96x2", kWait, kWave, 0},
      {"96x2", kWait, kWeight, 0}}},
    // 2048
    {{{"128x2 s2", kTop, kAll, 0},
      {"128x2 s2", kTop, kAll, 0},
      {"128x2", kWait, kAll, 0},
      {"128x2 s2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 3584
    {{{"224x2 s2", kTop, kAll, 0},
      {"224x2 s2", kTop, kAll, 0},
      {"224x2", kWait, kAll, 0},
      {"128x4", kWait, kWave, 0},
      {"224x2", kWait, kWave, 0},
      {"224x2", kWait, kWave, 0},
      {"224x2", kWait, kWeight, 0}}},
    // 5120
    {{{"320x2 s2", kTop, kAll, 0},
      {"320x2 s2", kTop, kAll, 0},
      {"320x2 s2", kWait, kAll, 0},
      {"160x4", kWait, kWave, 0},
      {"160x4", kWait, kWave, 0},
      {"160x4", kWait, kWave, 0},
      {"640x1 late", kWait, kWeight, 0}}},
    // 8192
    {{{"512x2 s2", kTop, kAll, 0},
      {"512x2 s2", kTop, kAll, 0},
      {"512x2 s2", kWait, kAll, 0},
      {"128x8 stream", kWait, kWave, 0},
      {"512x2", kWait, kWave, 0},
      {"512x2", kWait, kWave, 0},
      {"1024x1 late", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kSiluMulProgrammatic{{
    // 4864
    {{{"128x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x1", kLoads, kWave, 0},
      {"128x1", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0}}},
    // 8960
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"256x1", kWait, kAll, 0},
      {"256x1", kWait, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kWait, kWave, 0}}},
    // 11008
    {{{"64x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"256x1", kWait, kAll, 0},
      {"256x1", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kWait, kWave, 0}}},
    // 18944
    {{{"64x1", kTop, kAll, 0},
      {"256x1", kLoads, kAll, 0},
      {"256x1", kTop, kAll, 0},
      {"128x1", kLoads, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"64x2", kLoads, kWave, 0},
      {"64x2", kLoads, kWave, 0}}},
    // 13824
    {{{"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"512x1", kTop, kAll, 0},
      {"128x1", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"64x2", kLoads, kWave, 0}}},
    // 29568
    {{{"64x1", kTop, kAll, 0},
      {"256x1", kWait, kAll, 0},
      {"128x1", kLoads, kAll, 0},
      {"128x2", kLoads, kWave, 0},
      {"128x2", kLoads, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"64x2", kLoads, kWeight, 0}}},
}};

inline constexpr NamedGrid kSiluMulPlain{{
    // 4864
    {{{"32x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"64x1", kWait, kWave, 0},
      {"64x1", kWait, kWave, 0},
      {"64x2", kWait, kWeight, 0}}},
    // 8960
    {{{"32x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"64x1", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 11008
    {{{"32x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"64x1", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"64x2", kWait, kWeight, 0}}},
    // 18944
    {{{"32x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"64x1", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"64x2", kWait, kWeight, 0}}},
    // 13824
    {{{"32x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"64x1", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 29568
    {{{"32x1", kTop, kAll, 0},
      {"32x1", kTop, kAll, 0},
      {"256x1", kWait, kAll, 0},
      {"64x1", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0},
      {"64x2", kWait, kWave, 0},
      {"64x2", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kRopeProgrammatic{{
    // 896
    {{{"32x1", kTop, kTable, 0},
      {"32x1", kTop, kTable, 0},
      {"64x1", kTop, kTable, 1},
      {"128x1", kTop, kTable, 4},
      {"128x2", kWait, kWave, 0},
      {"512x2", kWait, kWeight, 0},
      {"64x2", kWait, kWeight, 0}}},
    // 1536
    {{{"64x1", kTop, kTable, 0},
      {"32x1", kTop, kTable, 0},
      {"64x1", kTop, kTable, 2},
      {"64x2", kTop, kWave, 4},
      {"256x1", kWait, kWeight, 0},
      {"64x2", kWait, kWave, 0},
      {"128x2", kWait, kWave, 0}}},
    // 2048
    {{{"128x1", kTop, kTable, 0},
      {"32x1", kTop, kTable, 0},
      {"64x1", kTop, kTable, 0},
      {"128x2", kWait, kWave, 0},
      {"128x2", kWait, kWeight, 0},
      {"64x2", kWait, kWave, 0},
      {"64x2", kWait, kWeight, 0}}},
    // 3584
    {{{"64x1", kTop, kTable, 0},
      {"32x1", kTop, kTable, 0},
      {"64x2", kTop, kTable, 2},
      {"128x2", kTop, kWave, 4},
      {"128x2", kTop, kWeight, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 5120
    {{{"64x1", kTop, kTable, 0},
      {"64x1", kTop, kTable, 0},
      {"64x2", kTop, kTable, 2},
      {"256x1", kTop, kTable, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kTop, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
    // 8192
    {{{"64x1", kTop, kTable, 0},
      {"32x2", kTop, kTable, 0},
      {"32x2", kTop, kTable, 0},
      {"128x2", kTop, kWeight, 0},
      {"128x2", kWait, kWeight, 0},
      {"128x2", kTop, kWeight, 0},
      {"128x2", kWait, kWeight, 0}}},
}};

inline constexpr NamedGrid kRopePlain{{
    // 896
    {{{"128x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"64x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"32x2", kWait, kWave, 0},
      {"32x2", kWait, kWave, 0},
      {"32x2", kWait, kWeight, 0}}},
    // 1536
    {{{"32x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"32x4", kWait, kWave, 0},
      {"128x1", kWait, kWave, 0},
      {"64x1", kWait, kWeight, 0}}},
    // 2048
    {{{"64x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"64x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"128x4", kWait, kWave, 0},
      {"64x1", kWait, kWave, 0},
      {"128x1", kWait, kWeight, 0}}},
    // 3584
    {{{"64x1", kTop, kAll, 0},
      {"128x1", kTop, kAll, 0},
      {"64x1", kWait, kAll, 0},
      {"128x1", kWait, kWave, 0},
      {"256x1", kWait, kWave, 0},
      {"128x1", kWait, kWave, 0},
      {"128x1", kWait, kWeight, 0}}},
    // 5120
    {{{"128x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"128x2", kWait, kWave, 0},
      {"128x1", kWait, kWave, 0},
      {"128x1", kWait, kWave, 0},
      {"128x1", kWait, kWeight, 0}}},
    // 8192
    {{{"128x1", kTop, kAll, 0},
      {"64x1", kTop, kAll, 0},
      {"128x1", kWait, kAll, 0},
      {"64x4", kWait, kWave, 0},
      {"128x1", kWait, kWave, 0},
      {"128x1", kWait, kWave, 0},
      {"128x1", kWait, kWeight, 0}}},
}};

}  // namespace kernelscope::kernels::cuda

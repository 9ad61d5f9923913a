// rms_norm on CUDA: its kernel configurations, and the call.

#include "kernels/cuda/configs.h"
#include "kernels/cuda/dispatch_table.h"
#include "kernels/cuda/norm_launch.cuh"

namespace kernelscope::kernels::cuda {
namespace {

// Grouped by the hidden size that fills them; each also serves what is a little narrower.
constexpr NormConfig kConfigs[] = {
    // 896
    rowConfig<false, 128, 1>("128x1"),
    rowConfig<false, 112, 1, 1, 2>("112x1 r2"),
    rowConfig<false, 56, 2, 1, 4>("56x2 r4"),
    rowConfig<false, 64, 2>("64x2"),
    lateConfig<false, 112, 1, 2>("112x1 r2 late"),
    lateConfig<false, 112, 1, 4>("112x1 r4 late"),
    ringConfig<false, 32, 4, 16, 3>("ring 32x4 t16 3"),
    ringConfig<false, 32, 4, 16, 6>("ring 32x4 t16 6"),
    // 1536
    rowConfig<false, 192, 1>("192x1"),
    rowConfig<false, 96, 2, 2>("96x2 s2"),
    rowConfig<false, 96, 2>("96x2"),
    lateConfig<false, 96, 2>("96x2 late"),
    lateConfig<false, 192, 1>("192x1 late"),
    ringConfig<false, 96, 2, 2, 3>("ring 96x2 t2 3"),
    ringConfig<false, 32, 6, 8, 3>("ring 32x6 t8 3"),
    // 2048
    rowConfig<false, 256, 1>("256x1"),
    rowConfig<false, 128, 2, 2>("128x2 s2"),
    rowConfig<false, 128, 2>("128x2"),
    lateConfig<false, 128, 2>("128x2 late"),
    lateConfig<false, 256, 1>("256x1 late"),
    ringConfig<false, 128, 2, 2, 2>("ring 128x2 t2 2"),
    ringConfig<false, 128, 2, 2, 3>("ring 128x2 t2 3"),
    // 3584
    rowConfig<false, 448, 1>("448x1"),
    rowConfig<false, 224, 2, 2>("224x2 s2"),
    rowConfig<false, 224, 2>("224x2"),
    lateConfig<false, 224, 2>("224x2 late"),
    twoPassConfig<224, 2>("224x2 two-pass"),
    ringConfig<false, 224, 2, 2, 3>("ring 224x2 t2 3"),
    // 5120
    rowConfig<false, 128, 5, 5>("128x5 s5"),
    rowConfig<false, 160, 4, 2>("160x4 s2"),
    rowConfig<false, 160, 4>("160x4"),
    rowConfig<false, 320, 2>("320x2"),
    lateConfig<false, 320, 2>("320x2 late"),
    twoPassConfig<320, 2>("320x2 two-pass"),
    ringConfig<false, 320, 2, 1, 4>("ring 320x2 t1 4"),
    ringConfig<false, 320, 2, 2, 2>("ring 320x2 t2 2"),
    ringConfig<false, 320, 2, 2, 3>("ring 320x2 t2 3"),
    // 8192
    rowConfig<false, 128, 8, 8>("128x8 s8"),
    rowConfig<false, 256, 4, 4>("256x4 s4"),
    rowConfig<false, 256, 4, 2>("256x4 s2"),
    rowConfig<false, 256, 4>("256x4"),
    rowConfig<false, 512, 2>("512x2"),
    lateConfig<false, 512, 2>("512x2 late"),
    twoPassConfig<512, 2>("512x2 two-pass"),
    ringConfig<false, 512, 2, 1, 4>("ring 512x2 t1 4"),
    ringConfig<false, 128, 8, 2, 3>("ring 128x8 t2 3"),
    ringConfig<false, 128, 8, 2, 4>("ring 128x8 t2 4"),
    ringConfig<false, 256, 4, 2, 3>("ring 256x4 t2 3"),
};

constexpr Grid kProgrammatic = resolve(kConfigs, kRmsNormProgrammatic);
constexpr Grid kPlain = resolve(kConfigs, kRmsNormPlain);

}  // namespace

int rmsNorm(const NormArguments& a, const ks_launch_options& options, void* stream) {
    return runNorm<false>(a, {kConfigs, kProgrammatic, kPlain}, options, stream);
}

ConfigList rmsNormConfigs() { return listOf(kConfigs, kProgrammatic, kPlain); }

}  // namespace kernelscope::kernels::cuda

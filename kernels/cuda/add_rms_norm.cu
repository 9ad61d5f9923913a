// Residual add and rms_norm in one kernel on CUDA: its kernel configurations, and the call.

#include "kernels/cuda/configs.h"
#include "kernels/cuda/dispatch_table.h"
#include "kernels/cuda/norm_launch.cuh"

namespace kernelscope::kernels::cuda {
namespace {

// Grouped by the hidden size that fills them; each also serves what is a little narrower.
constexpr NormConfig kConfigs[] = {
    // 896
    rowConfig<true, 128, 1>("128x1"),
    rowConfig<true, 112, 1, 1, 2>("112x1 r2"),
    rowConfig<true, 64, 2>("64x2"),
    rowConfig<true, 56, 2, 1, 4>("56x2 r4"),
    lateConfig<true, 112, 1, 2>("112x1 r2 late"),
    lateConfig<true, 112, 1, 4>("112x1 r4 late"),
    ringConfig<true, 32, 4, 16, 3>("ring 32x4 t16 3"),
    // 1536
    rowConfig<true, 192, 1>("192x1"),
    rowConfig<true, 96, 2, 2>("96x2 s2"),
    rowConfig<true, 96, 2>("96x2"),
    lateConfig<true, 96, 2>("96x2 late"),
    lateConfig<true, 192, 1>("192x1 late"),
    ringConfig<true, 96, 2, 2, 3>("ring 96x2 t2 3"),
    ringConfig<true, 32, 6, 8, 2>("ring 32x6 t8 2"),
    // 2048
    rowConfig<true, 256, 1>("256x1"),
    rowConfig<true, 128, 2, 2>("128x2 s2"),
    rowConfig<true, 128, 2>("128x2"),
    lateConfig<true, 128, 2>("128x2 late"),
    lateConfig<true, 256, 1>("256x1 late"),
    ringConfig<true, 128, 2, 2, 2>("ring 128x2 t2 2"),
    ringConfig<true, 128, 2, 2, 3>("ring 128x2 t2 3"),
    // 3584
    rowConfig<true, 448, 1>("448x1"),
    rowConfig<true, 224, 2, 2>("224x2 s2"),
    rowConfig<true, 224, 2>("224x2"),
    rowConfig<true, 128, 4>("128x4"),
    lateConfig<true, 448, 1>("448x1 late"),
    lateConfig<true, 224, 2>("224x2 late"),
    ringConfig<true, 224, 2, 2, 2>("ring 224x2 t2 2"),
    ringConfig<true, 224, 2, 2, 3>("ring 224x2 t2 3"),
    // 5120
    rowConfig<true, 128, 5, 5>("128x5 s5"),
    rowConfig<true, 320, 2, 2>("320x2 s2"),
    rowConfig<true, 160, 4>("160x4"),
    streamConfig<true, 160, 4>("160x4 stream"),
    rowConfig<true, 320, 2>("320x2"),
    rowConfig<true, 640, 1>("640x1"),
    lateConfig<true, 320, 2>("320x2 late"),
    lateConfig<true, 640, 1>("640x1 late"),
    ringConfig<true, 320, 2, 2, 2>("ring 320x2 t2 2"),
    ringConfig<true, 320, 2, 2, 3>("ring 320x2 t2 3"),
    // 8192
    rowConfig<true, 256, 4, 4>("256x4 s4"),
    rowConfig<true, 256, 4, 2>("256x4 s2"),
    rowConfig<true, 512, 2, 2>("512x2 s2"),
    rowConfig<true, 128, 8>("128x8"),
    rowConfig<true, 256, 4>("256x4"),
    rowConfig<true, 512, 2>("512x2"),
    rowConfig<true, 1024, 1>("1024x1"),
    lateConfig<true, 256, 4>("256x4 late"),
    streamConfig<true, 128, 8>("128x8 stream"),
    lateConfig<true, 512, 2>("512x2 late"),
    lateConfig<true, 1024, 1>("1024x1 late"),
    ringConfig<true, 128, 8, 1, 2>("ring 128x8 t1 2"),
    ringConfig<true, 128, 8, 2, 2>("ring 128x8 t2 2"),
    ringConfig<true, 512, 2, 1, 2>("ring 512x2 t1 2"),
    ringConfig<true, 256, 4, 2, 2>("ring 256x4 t2 2"),
    ringConfig<true, 256, 4, 2, 3>("ring 256x4 t2 3"),
    ringConfig<true, 128, 8, 2, 3>("ring 128x8 t2 3"),
};

constexpr Grid kProgrammatic = resolve(kConfigs, kAddRmsNormProgrammatic);
constexpr Grid kPlain = resolve(kConfigs, kAddRmsNormPlain);

}  // namespace

int addRmsNorm(const NormArguments& a, const ks_launch_options& options, void* stream) {
    return runNorm<true>(a, {kConfigs, kProgrammatic, kPlain}, options, stream);
}

ConfigList addRmsNormConfigs() { return listOf(kConfigs, kProgrammatic, kPlain); }

}  // namespace kernelscope::kernels::cuda

#include "core/engine/model_setup.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/device/cuda_support.h"
#include "core/ops/kernel_table.h"
#include "core/records/progress_clock.h"

namespace kernelscope {
namespace {

// cuBLAS and cuDNN workspaces, the CUDA context and libtorch's own buffers: seen 0.4 to 0.7 GiB on a GPU.
constexpr std::int64_t kGpuWorkspaceBytes = 800LL << 20;

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1LL << 30); }

}  // namespace

std::string ModelSetup::identity() const {
    std::string text = fmt::format("{}|{}|{}|{}", source.preset ? std::string(source.preset->id) : source.folder.string(), device.info.id,
                                   dtypeName(dtype), source.preset ? seed : 0);
    if (checkpoint) {
        for (const auto& file : checkpoint->files()) {
            std::error_code ignored;
            text += fmt::format("|{}", std::filesystem::last_write_time(file, ignored).time_since_epoch().count());
        }
    }
    return text;
}

Result<ModelSetup> prepareModel(const JobRequest& request) {
    ModelSetup setup;
    setup.seed = request.seed;
    Result<ModelSource> source = resolveModel(request.model);
    if (!source) return source.error();
    setup.source = std::move(*source);
    if (setup.source.preset) {
        setup.config = setup.source.preset->config;
    } else {
        Result<Checkpoint> opened = Checkpoint::open(setup.source.folder);
        if (!opened) return opened.error();
        setup.checkpoint = std::move(*opened);
        setup.config = setup.checkpoint->config();
    }
    Result<Device> device = openDevice(request.device);
    if (!device) return device.error();
    setup.device = std::move(*device);
    Result<at::ScalarType> dtype = chooseDtype(request.dtype, setup.device, setup.config.dtype);
    if (!dtype) return dtype.error();
    setup.dtype = *dtype;
    if (setup.source.preset && request.dtype == "auto" && setup.device.isCuda()) setup.dtype = at::kHalf;
    return setup;
}

Result<void> checkMemory(const ModelSetup& setup, ModelHolder& models, const PassMemory& pass) {
    const ModelConfig& config = setup.config;
    const auto elementBytes = static_cast<std::int64_t>(c10::elementSize(setup.dtype));
    std::int64_t needed = 2 * config.layers * pass.batch * pass.cacheTokens * config.kvHeads * config.headDim * elementBytes;
    needed += pass.batch * pass.logitRows * config.vocabSize * (elementBytes + 4);
    // In the MLP: what is added to, what the norm gave, gate, up and their product.
    needed += pass.batch * pass.tokens * (2 * config.hiddenSize + 3 * config.intermediateSize) * elementBytes;
    if (!models.holds(setup)) {
        models.drop();  // its memory counts as free
        needed += Qwen2Model::weightBytes(config, setup.dtype);
        if (setup.device.isCuda()) needed += kGpuWorkspaceBytes;
    }
    const Result<std::int64_t> free = freeBytes(setup.device);
    if (!free) return free.error();
    if (needed <= *free) return {};
    return makeError(ErrorCode::environment,
                     fmt::format("{} in {} does not fit on {}: {:.1f} GiB needed, {:.1f} GiB free", config.name, dtypeName(setup.dtype),
                                 setup.device.info.name, gib(needed), gib(*free)),
                     setup.dtype == at::kFloat ? "Use a 16-bit type, a smaller model, or a device with more memory."
                                               : "Use a smaller model, a smaller batch, or a device with more memory; close what else uses it.");
}

JobStarted describe(const ModelSetup& setup) {
    JobStarted started;
    started.environment = describeEnvironment(setup.device);
    if (setup.device.isCuda() && activate(setup.device)) started.environment["kernel_table"] = useKernelTable(setup.device);
    started.model = setup.config.name;
    started.weights = setup.checkpoint ? "file" : "random";
    started.device = setup.device.info.name;
    started.dtype = dtypeName(setup.dtype);
    return started;
}

Result<std::shared_ptr<Qwen2Model>> ModelHolder::get(ModelSetup& setup, JobContext& context) {
    if (holds(setup)) return m_model;
    drop();
    ProgressClock clock;
    LoadOptions options;
    options.device = setup.device.torch;
    options.dtype = setup.dtype;
    options.seed = setup.seed;
    options.stop = context.stop;
    options.progress = [&](double fraction) {
        constexpr std::int64_t kSteps = 1000;
        const auto done = static_cast<std::int64_t>(fraction * kSteps);
        if (clock.due(fraction >= 1)) {
            context.progress({setup.checkpoint ? "Loading weights" : "Making random weights", done, kSteps, clock.secondsLeft(done, kSteps), {}});
        }
    };
    Result<std::unique_ptr<Qwen2Model>> loaded =
        setup.checkpoint ? Qwen2Model::load(*setup.checkpoint, options) : Qwen2Model::random(setup.config, options);
    if (!loaded) return loaded.error();
    m_model = std::move(*loaded);
    m_identity = setup.identity();
    return m_model;
}

void ModelHolder::drop() {
    m_model.reset();
    m_identity.clear();
    cuda::emptyCache();
}

at::Tensor measurementPrompt(const Qwen2Model& model, std::int64_t batch, std::int64_t tokens, std::int64_t seed) {
    at::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(seed) + 1);
    const std::int64_t low = std::min<std::int64_t>(1000, model.config().vocabSize / 2);
    const std::int64_t high = std::min<std::int64_t>(100'000, model.config().vocabSize);
    return at::randint(low, high, {batch, tokens}, generator, at::TensorOptions().dtype(at::kLong)).to(model.device());
}

}  // namespace kernelscope

// kernelscope-kernel-tune: measures every kernel configuration at the shapes of the dispatch tables on the current GPU and prints one CSV
// line for each that came near the best. make_table.py turns the lines into dispatch_table.h.
//
//     kernelscope-kernel-tune [--op rms_norm,add_rms_norm,silu_mul,rope] [--dtype bfloat16] [--hidden N,...] [--rows N,...] [--check]
//
// --check measures only what the tables choose, with and without programmatic launch, in all three patterns.

#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "kernels/tune/measure.h"

namespace kernelscope::tune {
namespace {

struct Model {
    int64_t hidden, width, qHeads, kvHeads, headDim;
};
constexpr Model kModels[] = {{896, 4864, 14, 2, 64},    {1536, 8960, 12, 2, 128},  {2048, 11008, 16, 2, 128},
                             {3584, 18944, 28, 4, 128}, {5120, 13824, 40, 8, 128}, {8192, 29568, 64, 8, 128}};
constexpr const char* kOps[] = {"rms_norm", "add_rms_norm", "silu_mul", "rope"};
constexpr double kL2Share = 0.64 * 60e6;  // warm and chain are measured where the data fits

struct Settings {
    std::set<std::string> ops{std::begin(kOps), std::end(kOps)};
    std::set<int64_t> hidden;
    std::set<int64_t> rows{1, 8, 64, 512, 2048, 8192, 32768};
    int dtype = KS_BFLOAT16;
    bool check = false;
};

std::set<std::string> words(const std::string& text) {
    std::set<std::string> found;
    std::stringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) found.insert(word);
    return found;
}

std::set<int64_t> numbers(const std::string& text) {
    std::set<int64_t> found;
    for (const std::string& word : words(text)) found.insert(std::stoll(word));
    return found;
}

Settings parse(int argc, char** argv) {
    Settings s;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--check") {
            s.check = true;
            continue;
        }
        if (i + 1 == argc) throw std::runtime_error("an option or its value is missing: " + name);
        const std::string value = argv[++i];
        if (name == "--op") s.ops = words(value);
        else if (name == "--hidden") s.hidden = numbers(value);
        else if (name == "--rows") s.rows = numbers(value);
        else if (name == "--dtype") s.dtype = value == "float16" ? KS_FLOAT16 : value == "float32" ? KS_FLOAT32 : KS_BFLOAT16;
        else throw std::runtime_error("unknown option: " + name);
    }
    return s;
}

/// THREADSxVECTORS somewhere in the name: how many 16-byte vectors of a row the configuration holds.
int64_t capacity(const char* name) {
    const char* digits = name + strcspn(name, "0123456789");
    int threads = 0;
    int vectors = 0;
    return std::sscanf(digits, "%dx%d", &threads, &vectors) == 2 ? int64_t{threads} * vectors : 0;
}

bool isRing(const char* name) { return std::strncmp(name, "ring", 4) == 0; }

ks_launch_options with(int config, int trigger, int prefetch, int blocksPerSm, bool plain) {
    ks_launch_options o = KS_LAUNCH_OPTIONS_INIT;
    o.config = config;
    o.trigger = trigger;
    o.prefetch = prefetch;
    o.blocks_per_sm = blocksPerSm;
    o.flags = plain ? KS_FLAG_PLAIN_LAUNCH : 0;
    return o;
}

/// Configurations that suit the shape, each once with usual settings.
std::vector<ks_launch_options> firstRound(const Shape& shape, bool plain) {
    std::vector<ks_launch_options> found;
    const bool norm = shape.op == KS_RMS_NORM || shape.op == KS_ADD_RMS_NORM;
    const int trigger = shape.rows <= 8 ? KS_TRIGGER_TOP : KS_TRIGGER_AFTER_WAIT;
    const int prefetch = shape.rows <= 64 ? KS_PREFETCH_ALL : shape.rows <= 8192 ? KS_PREFETCH_FIRST_WAVE : KS_PREFETCH_WEIGHT;
    for (int config = 0; config < ks_config_count(shape.op); ++config) {
        const char* name = ks_config_name(shape.op, config);
        const int64_t need = shape.hidden / 8;
        if (norm && (capacity(name) < need || capacity(name) * 10 > need * 13)) continue;
        if (norm && isRing(name) && shape.rows < 512) continue;
        if (norm && std::strstr(name, " s") != nullptr && shape.rows > 512) continue;  // a row over several blocks
        if (norm && shape.rows <= 8 && (std::strstr(name, "late") != nullptr || std::strstr(name, "two-pass") != nullptr)) continue;
        if (isRing(name))
            for (const int blocks : {1, 2, 4, 8}) found.push_back(with(config, trigger, prefetch, blocks, plain));
        else
            found.push_back(with(config, trigger, prefetch, 0, plain));
    }
    return found;
}

/// Settings around one good configuration.
std::vector<ks_launch_options> secondRound(const Shape& shape, const ks_launch_options& base) {
    if ((base.flags & KS_FLAG_PLAIN_LAUNCH) != 0) return {base};
    std::vector<ks_launch_options> found;
    const bool ring = isRing(ks_config_name(shape.op, base.config));
    std::vector<int> caps{0};
    if (ring) caps = {base.blocks_per_sm};
    else if (shape.rows == 64) caps = {0, 1, 2};
    else if (shape.rows == 512) caps = {0, 4, 6};
    std::vector<int> prefetches{KS_PREFETCH_WEIGHT, KS_PREFETCH_FIRST_WAVE};
    if (shape.rows <= 64) prefetches = {KS_PREFETCH_WEIGHT, KS_PREFETCH_ALL};
    if (shape.op == KS_ROPE && shape.rows <= 512) prefetches.push_back(KS_PREFETCH_TABLE);
    const char* name = ks_config_name(shape.op, base.config);
    const bool anyTrigger = ring || std::strstr(name, "late") != nullptr || std::strstr(name, "two-pass") != nullptr;
    std::vector<int> triggers{KS_TRIGGER_TOP, KS_TRIGGER_AFTER_WAIT};
    if (anyTrigger || shape.op == KS_SILU_MUL) triggers.push_back(KS_TRIGGER_AFTER_LOADS);
    if (anyTrigger && shape.rows > 2048) triggers = {KS_TRIGGER_AFTER_WAIT, KS_TRIGGER_AFTER_LOADS, KS_TRIGGER_END};
    for (const int trigger : triggers)
        for (const int prefetch : prefetches)
            for (const int cap : caps) found.push_back(with(base.config, trigger, prefetch, cap, false));
    return found;
}

std::vector<ks_launch_options> best(const std::vector<ks_launch_options>& options, const std::vector<double>& times, size_t count) {
    std::multimap<double, ks_launch_options> ranked;
    for (size_t i = 0; i < options.size(); ++i)
        if (times[i] > 0) ranked.emplace(times[i], options[i]);
    std::vector<ks_launch_options> found;
    for (const auto& [time, option] : ranked)
        if (found.size() < count) found.push_back(option);
    return found;
}

void print(const Shape& shape, const ks_launch_options& o, double cold, double warm, double chain) {
    const char* name = o.config < 0 ? "general" : ks_config_name(shape.op, o.config);
    std::printf("%s,%s,%lld,%lld,%d,%s,%d,%d,%d,%.4f,%.4f,%.4f\n", kOps[shape.op],
                shape.dtype == KS_BFLOAT16 ? "bfloat16" : shape.dtype == KS_FLOAT16 ? "float16" : "float32",
                static_cast<long long>(shape.rows), static_cast<long long>(shape.hidden), (o.flags & KS_FLAG_PLAIN_LAUNCH) != 0 ? 1 : 0,
                name, o.trigger, o.prefetch, o.blocks_per_sm, cold, warm, chain);
    std::fflush(stdout);
}

void report(Meter& meter, Workload& workload, const Shape& shape, const Plan& plan, const std::vector<ks_launch_options>& options,
            int rounds) {
    const bool small = shape.movedBytes() <= kL2Share;
    const std::vector<double> cold = meter.measure(workload, Pattern::cold, options, plan.calls, rounds);
    const std::vector<double> none(options.size(), -1);
    const auto warm = small ? meter.measure(workload, Pattern::warm, options, plan.calls, rounds / 2 + 1) : none;
    const auto chain = small ? meter.measure(workload, Pattern::chain, options, plan.calls, rounds / 2 + 1) : none;
    for (size_t i = 0; i < options.size(); ++i) print(shape, options[i], cold[i], warm[i], chain[i]);
}

void tune(Meter& meter, Workload& workload, const Shape& shape, const Plan& plan, bool plain) {
    const std::vector<ks_launch_options> first = firstRound(shape, plain);
    const auto firstTimes = meter.measure(workload, Pattern::cold, first, plan.calls, 5);
    std::vector<ks_launch_options> second;
    for (const ks_launch_options& base : best(first, firstTimes, plain ? 3 : 5))
        for (const ks_launch_options& o : secondRound(shape, base)) second.push_back(o);
    // Near the size of L2 the quickest cold and the quickest warm differ: let more of them reach the last round.
    const bool nearL2 = shape.movedBytes() > kL2Share / 4 && shape.movedBytes() <= kL2Share;
    const size_t finalists = plain ? 3 : nearL2 ? 10 : 7;
    std::vector<ks_launch_options> last = second;
    if (second.size() > finalists) {
        last = best(second, meter.measure(workload, Pattern::cold, second, plan.calls, 5), finalists);
        if (nearL2)
            for (const ks_launch_options& o : best(second, meter.measure(workload, Pattern::warm, second, plan.calls, 3), 4))
                last.push_back(o);
    }
    report(meter, workload, shape, plan, last, plain ? 7 : 9);
}

int run(const Settings& settings) {
    Stream stream;
    Meter meter(stream.get());
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    std::printf("# %s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
    std::printf("op,dtype,rows,hidden,plain,config,trigger,prefetch,blocks_per_sm,cold_us,warm_us,chain_us\n");
    for (int op = 0; op < 4; ++op)
        for (const Model& model : kModels)
            for (const int64_t rows : settings.rows) {
                if (settings.ops.count(kOps[op]) == 0) continue;
                if (!settings.hidden.empty() && settings.hidden.count(model.hidden) == 0) continue;
                const Shape shape{op, settings.dtype, rows, model.hidden, model.width, model.qHeads, model.kvHeads, model.headDim};
                const Plan plan = planFor(shape);
                const auto workload = makeWorkload(shape, plan.sets, stream.get());
                if (settings.check) {
                    std::vector<ks_launch_options> both(2, ks_launch_options KS_LAUNCH_OPTIONS_INIT);
                    both[1].flags = KS_FLAG_PLAIN_LAUNCH;
                    for (ks_launch_options& o : both) (void)ks_choose(op, rows, op == KS_SILU_MUL ? model.width : model.hidden, shape.dtype, &o);
                    report(meter, *workload, shape, plan, both, 13);
                    continue;
                }
                tune(meter, *workload, shape, plan, false);
                tune(meter, *workload, shape, plan, true);
            }
    return 0;
}

}  // namespace
}  // namespace kernelscope::tune

int main(int argc, char** argv) {
    try {
        return kernelscope::tune::run(kernelscope::tune::parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kernelscope-kernel-tune: %s\n", error.what());
        return 1;
    }
}

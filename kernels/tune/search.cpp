#include "kernels/tune/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

namespace kernelscope::tune {
namespace {

struct Model {
    int64_t hidden, width, qHeads, kvHeads, headDim;
};
constexpr Model kModels[] = {{896, 4864, 14, 2, 64},    {1536, 8960, 12, 2, 128},  {2048, 11008, 16, 2, 128},
                             {3584, 18944, 28, 4, 128}, {5120, 13824, 40, 8, 128}, {8192, 29568, 64, 8, 128}};
constexpr int64_t kRows[] = {1, 8, 64, 512, 2048, 8192, 32768};
constexpr double kL2Share = 0.64;     // warm and chain are measured where the data fits this much of L2
/// What each way of calling counts, by the power of its time. In a decode step of a few rows every call reads what the one before wrote.
struct Weights {
    double cold, warm, chain;
};
constexpr Weights kFewRows{0.35, 0.25, 0.4}, kManyRows{0.5, 0.3, 0.2}, kPlain{0.6, 0.2, 0.2};
constexpr double kLeastGain = 0.004;  // a limit on blocks costs shared memory: it has to be worth more than this

double warmBytes() {
    int device = 0, bytes = 0;
    require(cudaGetDevice(&device), "cudaGetDevice");
    require(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    return kL2Share * bytes;
}

/// Whether the quickest cold and the quickest warm differ: data that L2 holds, but not beside much else.
bool isNearL2(const Shape& shape) {
    const double fits = warmBytes();
    return shape.movedBytes() > fits / 4 && shape.movedBytes() <= fits;
}

/// THREADSxVECTORS somewhere in the name: how many 16-byte vectors of a row the configuration holds.
int64_t capacity(const char* name) {
    const char* digits = name + strcspn(name, "0123456789");
    int threads = 0;
    int vectors = 0;
    return std::sscanf(digits, "%dx%d", &threads, &vectors) == 2 ? int64_t{threads} * vectors : 0;
}

bool isRing(const char* name) { return std::strncmp(name, "ring", 4) == 0; }
bool isStream(const char* name) { return std::strstr(name, "stream") != nullptr; }
bool isSplit(const char* name) {
    const char* letter = std::strstr(name, " s");
    return letter != nullptr && letter[2] >= '0' && letter[2] <= '9';
}

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
        if (norm && (isRing(name) || isStream(name)) && shape.rows < 512) continue;
        if (norm && isSplit(name) && shape.rows > 512) continue;
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
    if (isNearL2(shape)) prefetches.push_back(KS_PREFETCH_HALF_WAVE);
    const char* name = ks_config_name(shape.op, base.config);
    const bool anyTrigger = ring || std::strstr(name, "late") != nullptr || std::strstr(name, "two-pass") != nullptr || isStream(name);
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

bool sameChoice(const ks_launch_options& a, const ks_launch_options& b) {
    return a.config == b.config && (a.config < 0 || (a.trigger == b.trigger && a.prefetch == b.prefetch && a.blocks_per_sm == b.blocks_per_sm));
}

ks_launch_options standing(const Shape& shape, bool plain) {
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    options.flags = plain ? KS_FLAG_PLAIN_LAUNCH : 0;
    (void)ks_choose(shape.op, shape.rows, keyOf(shape), shape.dtype, &options);
    return options;
}

std::vector<Measured> measureAll(Meter& meter, Workload& workload, const Shape& shape, const Plan& plan, std::span<const ks_launch_options> options, int rounds) {
    const std::vector<ks_launch_options> list(options.begin(), options.end());
    const bool warm = shape.movedBytes() <= warmBytes();
    const std::vector<double> none(list.size(), -1);
    const auto coldUs = meter.measure(workload, Pattern::cold, list, plan.calls, rounds);
    const auto warmUs = warm ? meter.measure(workload, Pattern::warm, list, plan.calls, rounds / 2 + 1) : none;
    const auto chainUs = warm ? meter.measure(workload, Pattern::chain, list, plan.calls, rounds / 2 + 1) : none;
    std::vector<Measured> measured;
    for (size_t i = 0; i < list.size(); ++i) measured.push_back({list[i], coldUs[i], warmUs[i], chainUs[i]});
    return measured;
}

double score(const Measured& m, const Shape& shape) {
    if (m.coldUs <= 0) return std::numeric_limits<double>::infinity();
    if (m.warmUs <= 0 || m.chainUs <= 0) return m.coldUs;
    const bool plain = (m.options.flags & KS_FLAG_PLAIN_LAUNCH) != 0;
    const Weights& weight = plain ? kPlain : shape.rows <= 64 ? kFewRows : kManyRows;
    const double value = std::exp(weight.cold * std::log(m.coldUs) + weight.warm * std::log(m.warmUs) + weight.chain * std::log(m.chainUs));
    const bool capped = m.options.blocks_per_sm > 0 && !isRing(ks_config_name(shape.op, m.options.config));
    return capped ? value * (1 + kLeastGain) : value;
}

}  // namespace

std::vector<Shape> tableShapes(int op, int dtype) {
    std::vector<Shape> shapes;
    for (const Model& model : kModels)
        for (const int64_t rows : kRows)
            shapes.push_back({op, dtype, rows, model.hidden, model.width, model.qHeads, model.kvHeads, model.headDim});
    return shapes;
}

int64_t keyOf(const Shape& shape) { return shape.op == KS_SILU_MUL ? shape.width : shape.hidden; }

std::vector<Measured> searchShape(const Shape& shape, bool plain, cudaStream_t stream, const std::function<bool()>& stop) {
    const Plan plan = planFor(shape);
    const std::vector<ks_launch_options> first = firstRound(shape, plain);
    if (first.empty()) return {};
    const auto workload = makeWorkload(shape, plan.sets, stream);
    Meter meter(stream);
    const auto firstTimes = meter.measure(*workload, Pattern::cold, first, plan.calls, 5);
    if (stop()) return {};
    std::vector<ks_launch_options> second;
    for (const ks_launch_options& base : best(first, firstTimes, plain ? 3 : 5))
        for (const ks_launch_options& o : secondRound(shape, base)) second.push_back(o);
    const bool nearL2 = isNearL2(shape);  // then more of them reach the last round
    const size_t finalists = plain ? 3 : nearL2 ? 10 : 7;
    std::vector<ks_launch_options> last = second;
    if (second.size() > finalists) {
        last = best(second, meter.measure(*workload, Pattern::cold, second, plan.calls, 5), finalists);
        if (nearL2)
            for (const ks_launch_options& o : best(second, meter.measure(*workload, Pattern::warm, second, plan.calls, 3), 4))
                last.push_back(o);
    }
    if (stop()) return {};
    const ks_launch_options now = standing(shape, plain);
    last.push_back(now);
    std::vector<ks_launch_options> distinct;
    for (const ks_launch_options& o : last)
        if (std::none_of(distinct.begin(), distinct.end(), [&](const ks_launch_options& other) { return sameChoice(o, other); })) distinct.push_back(o);
    std::vector<Measured> measured = measureAll(meter, *workload, shape, plan, distinct, plain ? 7 : 9);
    for (Measured& m : measured) m.standing = sameChoice(m.options, now);
    return measured;
}

Measured measureStanding(const Shape& shape, bool plain, cudaStream_t stream) {
    const Plan plan = planFor(shape);
    const auto workload = makeWorkload(shape, plan.sets, stream);
    Meter meter(stream);
    Measured measured = measureAll(meter, *workload, shape, plan, std::array{standing(shape, plain)}, 13).front();
    measured.standing = true;
    return measured;
}

const Measured& quickest(std::span<const Measured> measured, const Shape& shape) {
    return *std::min_element(measured.begin(), measured.end(),
                             [&](const Measured& a, const Measured& b) { return score(a, shape) < score(b, shape); });
}

}  // namespace kernelscope::tune

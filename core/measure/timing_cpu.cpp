// On a CPU a call's work is done when it returns: a steady clock around it is all there is.

#include <algorithm>
#include <chrono>
#include <cstring>

#include <ATen/ATen.h>

#include "core/measure/evict.h"
#include "core/measure/execution.h"
#include "core/measure/timing.h"
#include "core/model/parallel.h"

namespace kernelscope {
namespace {

using Clock = std::chrono::steady_clock;

// The clock's own cost is about 25 ns and its step 1 ns: a sample this long is good to a quarter of a percent.
constexpr double kLeastSampleUs = 10;
// A sample of a cold cell is a few calls, each on a set of its own that has been taken out of the caches; together no more memory
// than this. Results are as cold as operands, whoever allocated them; what a variant allocates in between is not known here.
constexpr std::int64_t kMostColdBytes = 256LL << 20;
// A chain begins anew after so many calls: silu_mul of its own results goes to zero by way of subnormal numbers, which a CPU is slow at.
constexpr std::int64_t kChainLength = 8;

void evictAll(const Tensors& tensors) {
    for (const at::Tensor& tensor : tensors) evict(tensor.const_data_ptr(), tensor.nbytes());
}

double since(Clock::time_point begin) { return std::chrono::duration<double, std::micro>(Clock::now() - begin).count(); }

std::int64_t bytesOf(const Operands& operands) {
    std::int64_t bytes = 0;
    for (const Tensors* side : {&operands.inputs, &operands.outputs}) {
        for (const at::Tensor& tensor : *side) bytes += static_cast<std::int64_t>(tensor.nbytes());
    }
    return std::max<std::int64_t>(1, bytes);
}

class CpuCalls final : public PreparedCalls {
public:
    CpuCalls(const Operator& op, const Variant& variant, const Operands& example, CacheMode mode, const Meter& meter)
        : m_op(op), m_variant(variant), m_example(example), m_mode(mode), m_meter(meter) {
        m_sets.push_back(ownBuffers(op, variant, example));
        callOn(m_sets.front());
        m_meter.sign();
        const double estimate = std::max(0.02, std::min(timedUs(), timedUs()));
        m_calls = static_cast<std::int64_t>(std::clamp(kLeastSampleUs / estimate, 1.0, 1000.0));
        if (mode == CacheMode::chain) m_calls = std::min(m_calls, kChainLength);
        if (mode != CacheMode::cold) return;
        m_calls = std::min(m_calls, 1 + kMostColdBytes / bytesOf(m_sets.front()));
        while (static_cast<std::int64_t>(m_sets.size()) < m_calls) m_sets.push_back(ownBuffers(op, variant, example));
    }

    double sampleUs() override {
        if (m_mode == CacheMode::cold) emptyCaches();
        if (m_mode == CacheMode::chain && m_chained >= kChainLength) {
            m_sets.front() = ownBuffers(m_op, m_variant, m_example);
            callOn(m_sets.front());  // its buffers are in the caches, as a chain's are
            m_chained = 0;
        }
        const Clock::time_point begin = Clock::now();
        for (std::int64_t call = 0; call < m_calls; ++call) callOn(m_sets[static_cast<std::size_t>(call) % m_sets.size()]);
        const double us = since(begin);
        m_chained += m_calls;
        return us / static_cast<double>(m_calls);
    }

private:
    double timedUs() {
        const Clock::time_point begin = Clock::now();
        callOn(m_sets.front());
        const double us = since(begin);
        m_meter.sign();
        return us;
    }

    void callOn(Operands& operands) {
        Result<Tensors> results = m_variant.run(operands);
        TORCH_CHECK(results.ok(), results.ok() ? "" : results.error().message);
        if (m_mode == CacheMode::chain) operands = m_op.next(operands, *results);
        else if (m_mode == CacheMode::cold && m_variant.ownOutputs) m_results.push_back(std::move(*results));
    }

    void emptyCaches() {
        for (const Operands& operands : m_sets) {
            evictAll(operands.inputs);
            evictAll(operands.outputs);
        }
        // Given back now, this memory is what the next calls' results most likely get.
        for (const Tensors& results : m_results) evictAll(results);
        m_results.clear();
    }

    const Operator& m_op;
    const Variant& m_variant;
    const Operands m_example;  // its tensors are shared, not copied
    CacheMode m_mode;
    const Meter& m_meter;
    std::vector<Operands> m_sets;
    std::vector<Tensors> m_results;  // of a cold sample, where the variant makes its own
    std::int64_t m_calls = 1;
    std::int64_t m_chained = 0;
};

class CpuMeter final : public Meter {
public:
    DeviceLimits limits() override {
        constexpr std::int64_t kBytes = 16LL << 20;
        constexpr std::int64_t kGrain = 1 << 20;
        constexpr int kRepeats = 40;
        const at::Tensor from = at::ones({kBytes}, at::kByte);
        at::Tensor to = at::zeros({kBytes}, at::kByte);
        const auto* source = from.const_data_ptr<std::uint8_t>();
        auto* target = to.data_ptr<std::uint8_t>();
        DeviceLimits limits;
        // What the machine can do is its best, not its typical copy: short ones, so that some run without being interrupted, out of
        // memory as a cold cell's are, by one thread and by all.
        for (int repeat = 0; repeat < kRepeats; ++repeat) {
            evict(source, kBytes);
            evict(target, kBytes);
            const std::int64_t grain = repeat % 2 == 0 ? kBytes : kGrain;
            const Clock::time_point begin = Clock::now();
            parallelRanges(kBytes, grain, [&](std::int64_t first, std::int64_t end) { std::memcpy(target + first, source + first, static_cast<std::size_t>(end - first)); });
            limits.copyBytesPerSecond = std::max(limits.copyBytesPerSecond, 2e6 * static_cast<double>(kBytes) / since(begin));
        }
        // A call on a CPU costs what a function call costs; the clock cannot see it.
        limits.launchFloorUs = 0;
        return limits;
    }

    Result<std::unique_ptr<PreparedCalls>> prepare(const Operator& op, const Variant& variant, const Operands& example, CacheMode mode) override {
        if (Result<Tensors> tried = callVariant(variant, ownBuffers(op, variant, example)); !tried) return tried.error();
        sign();
        return std::unique_ptr<PreparedCalls>(std::make_unique<CpuCalls>(op, variant, example, mode, *this));
    }

    std::vector<double> callUs(const Operator& op, const Variant& variant, const Operands& example, CacheMode mode, std::int64_t count) override {
        constexpr int kWarmup = 10;
        // Slow calls are measured fewer times: 200 of a second each would help nobody.
        constexpr double kMostUs = 2e6;
        Operands operands = ownBuffers(op, variant, example);
        std::vector<double> samples;
        const Clock::time_point start = Clock::now();
        const bool makesOutputs = !variant.ownOutputs && !op.inPlace();
        for (std::int64_t call = -kWarmup; call < count; ++call) {
            if (mode == CacheMode::cold) {
                evictAll(operands.inputs);
                evictAll(operands.outputs);
            }
            // Given back now, this memory is what the call's own results get again.
            if (makesOutputs) operands.outputs.assign(operands.outputs.size(), at::Tensor());
            const Clock::time_point begin = Clock::now();
            if (makesOutputs) {
                for (std::size_t i = 0; i < operands.outputs.size(); ++i) operands.outputs[i] = at::empty_like(operands.inputs[i]);
            }
            Result<Tensors> results = variant.run(operands);
            const double us = since(begin);
            if (mode == CacheMode::cold && variant.ownOutputs && results) evictAll(*results);
            if (mode == CacheMode::chain && results) operands = (call + kWarmup + 1) % kChainLength == 0 ? ownBuffers(op, variant, example) : op.next(operands, *results);
            sign();
            if (call >= 0) samples.push_back(us);
            else if (since(start) > kMostUs / 10) call = -1;
            if (samples.size() >= 3 && since(start) > kMostUs) break;
        }
        return samples;
    }
};

}  // namespace

std::unique_ptr<Meter> makeCpuMeter() { return std::make_unique<CpuMeter>(); }

}  // namespace kernelscope

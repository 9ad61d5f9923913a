#pragma once
// How long a variant takes: on the device, cold, warm or in a chain, and as a caller sees it.
//
// Variants of a cell are measured in the same rounds, forwards and backwards in turn (A B C, C B A), so that whatever drifts
// drifts for all of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/ops/operator.h"
#include "core/records/result.h"
#include "core/records/statistics.h"

namespace kernelscope {

/// cold: every call works on memory that no cache holds. warm: on the same buffers. chain: each reads what the last one wrote.
enum class CacheMode { cold, warm, chain };
std::string_view toString(CacheMode mode);
std::optional<CacheMode> cacheModeFromString(std::string_view text);

/// What this device can do at best, measured in the same run.
struct DeviceLimits {
    double copyBytesPerSecond = 0;  ///< read and written bytes of a large copy, added up
    double launchFloorUs = 0;       ///< of a kernel that does nothing, one after the other
    double programmaticFloorUs = 0; ///< the same with programmatic launch; 0 where there is none
};

/// A variant made ready: buffers, and on CUDA a graph of many calls.
class PreparedCalls {
public:
    virtual ~PreparedCalls() = default;
    /// One sample: microseconds a call on the device.
    virtual double sampleUs() = 0;
};

class Meter {
public:
    virtual ~Meter() = default;
    virtual DeviceLimits limits() = 0;
    /// `example` holds contiguous inputs on the device. May throw c10::OutOfMemoryError.
    virtual Result<std::unique_ptr<PreparedCalls>> prepare(const Operator& op, const Variant& variant, const Operands& example, CacheMode mode) = 0;
    /// Whatever a round begins with (emptying caches).
    virtual void beginRound() {}
    /// `count` calls as a caller makes them, results allocated in the call: microseconds each. On CUDA hot, since what a call costs
    /// there is the host's work; on a CPU in the state of the cache that `mode` names, so that a call holds its kernel's time.
    virtual std::vector<double> callUs(const Operator& op, const Variant& variant, const Operands& example, CacheMode mode, std::int64_t count) = 0;

    /// `sign` is called between any two calls of a variant: whoever waits then knows that only a call can be silent for long.
    void setSign(std::function<void()> sign) { m_sign = std::move(sign); }
    void sign() const {
        if (m_sign) m_sign();
    }

private:
    std::function<void()> m_sign;
};

std::unique_ptr<Meter> makeMeter(const Device& device);
std::unique_ptr<Meter> makeCpuMeter();
/// Null in a build without CUDA.
std::unique_ptr<Meter> makeCudaMeter(const Device& device);

/// A variant among those of a cell.
struct Contender {
    const Variant* variant = nullptr;
    PreparedCalls* calls = nullptr;
    std::vector<double> samplesUs;
};

struct RoundOptions {
    std::int64_t leastRounds = 20;   ///< fewer give no interval worth the name
    std::int64_t mostRounds = 200;   ///< --repeats
    double relativeWidth = 0.005;    ///< stop when every median's interval is narrower than this
    std::function<void(std::int64_t round)> afterRound;  ///< may be empty
    std::function<bool()> outOfTime;                     ///< may be empty
    std::stop_token stop;
};

/// Interleaved rounds until all medians are known well enough. After at least two rounds a stop or the end of time ends it early.
void measureRounds(Meter& meter, std::vector<Contender>& contenders, const RoundOptions& options);

/// `count` call times of each contender, microseconds, fewer where calls are slow. In turns forwards and backwards, as rounds are: what disturbs a stretch of
/// time then falls on all of them, and on a part of each one's samples. `turnOf` hears whose turn begins.
std::vector<std::vector<double>> measureCalls(Meter& meter, const Operator& op, const std::vector<Contender>& contenders, const Operands& example, CacheMode mode,
                                              std::int64_t count, const std::function<void(const Variant&)>& turnOf);

/// The interval of the median by order statistics (binomial ranks): what the stop rule looks at after every few rounds, thousands
/// of times cheaper than a bootstrap.
Interval medianByRanks(std::vector<double> samples);

/// Operands of one call on buffers of its own, with the example's contents.
Operands ownBuffers(const Operator& op, const Variant& variant, const Operands& example);

}  // namespace kernelscope

#pragma once
// Instants on a device's queue: put one in without waiting, read differences after the queue has passed them.

#include <memory>

namespace kernelscope {

class BorderClock {
public:
    virtual ~BorderClock() = default;
    /// Forgets all marks; their storage is used again.
    virtual void reset() = 0;
    /// Puts an instant at the end of the queue and returns its number (0, 1, ... since reset).
    virtual int mark() = 0;
    /// Blocks until the device has passed every mark.
    virtual void wait() = 0;
    /// Time from mark `a` to mark `b` in microseconds. Precondition: wait() since both.
    virtual double betweenUs(int a, int b) const = 0;
};

/// A steady clock: on a CPU device work is done when its call returns.
std::unique_ptr<BorderClock> makeCpuBorderClock();

}  // namespace kernelscope

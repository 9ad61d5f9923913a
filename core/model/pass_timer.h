#pragma once
// How long forward passes take, launch to last kernel, without waiting for them.

#include <chrono>
#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace kernelscope {

/// begin() and end() around a pass; settle() once the host has waited for the device anyway. On a CPU device these are
/// two clock readings, elsewhere two events, made once.
class PassTimer {
public:
    explicit PassTimer(c10::Device device) : m_device(device) {
        if (device.is_cpu()) return;
        m_first.emplace(device.type(), c10::EventFlag::BACKEND_DEFAULT);
        m_last.emplace(device.type(), c10::EventFlag::BACKEND_DEFAULT);
    }

    void begin() {
        if (m_first) m_first->record(stream());
        else m_start = Clock::now();
    }
    void end() {
        if (m_last) m_last->record(stream());
        else m_sumMs += std::chrono::duration<double, std::milli>(Clock::now() - m_start).count();
    }
    /// Precondition: the work up to end() is done, as after a copy to the host.
    void settle() {
        if (m_first) m_sumMs += m_first->elapsedTime(*m_last);
    }
    [[nodiscard]] double sumMs() const { return m_sumMs; }

private:
    using Clock = std::chrono::steady_clock;
    c10::Stream stream() const { return c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device); }

    c10::Device m_device;
    std::optional<c10::Event> m_first, m_last;
    Clock::time_point m_start;
    double m_sumMs = 0;
};

}  // namespace kernelscope

#include <chrono>
#include <vector>

#include "core/device/border_clock.h"

namespace kernelscope {
namespace {

class CpuBorderClock final : public BorderClock {
public:
    void reset() override { m_marks.clear(); }
    int mark() override {
        m_marks.push_back(std::chrono::steady_clock::now());
        return static_cast<int>(m_marks.size()) - 1;
    }
    void wait() override {}
    double betweenUs(int a, int b) const override {
        return std::chrono::duration<double, std::micro>(m_marks.at(static_cast<std::size_t>(b)) -
                                                         m_marks.at(static_cast<std::size_t>(a))).count();
    }

private:
    std::vector<std::chrono::steady_clock::time_point> m_marks;
};

}  // namespace

std::unique_ptr<BorderClock> makeCpuBorderClock() { return std::make_unique<CpuBorderClock>(); }

}  // namespace kernelscope

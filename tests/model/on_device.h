#pragma once
// Tests that hold on every device: model_tests runs them on the CPU, model_gpu_tests on CUDA.

#include <gtest/gtest.h>

#include "tests/model/model_fixtures.h"

namespace kernelscope::test {

template <typename T>
class OnDevice : public testing::TestWithParam<std::tuple<c10::DeviceType, T>> {
protected:
    void SetUp() override {
        if (device().is_cuda() && !haveCuda()) GTEST_SKIP() << "no CUDA device here";
    }
    [[nodiscard]] at::Device device() const { return at::Device(std::get<0>(this->GetParam())); }
    [[nodiscard]] const T& what() const { return std::get<1>(this->GetParam()); }
};

class ReferenceOnDevice : public OnDevice<std::string> {};   ///< a checkpoint's name

/// Query heads for each key head, and the type.
struct GroupCase {
    std::int64_t group;
    at::ScalarType dtype;
};
class GroupsOnDevice : public OnDevice<GroupCase> {};

inline const std::vector<GroupCase> kGroupCases = [] {
    std::vector<GroupCase> cases;
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        for (const std::int64_t group : {1, 5, 6, 7, 8}) cases.push_back({group, dtype});
    }
    return cases;
}();

inline std::string nameOf(const std::string& name) {
    std::string clean = name;
    for (char& c : clean) if (c == '-') c = '_';
    return clean;
}
inline std::string nameOf(const GroupCase& c) { return "group" + std::to_string(c.group) + "_" + c10::toString(c.dtype); }

}  // namespace kernelscope::test

#include "tests/model/on_device.h"

namespace kernelscope::test {
namespace {

const auto name = [](const auto& info) { return nameOf(std::get<1>(info.param)); };

}  // namespace

INSTANTIATE_TEST_SUITE_P(CUDA, ReferenceOnDevice, testing::Combine(testing::Values(c10::DeviceType::CUDA), testing::ValuesIn(kReferenceNames)), name);
INSTANTIATE_TEST_SUITE_P(CUDA, GroupsOnDevice, testing::Combine(testing::Values(c10::DeviceType::CUDA), testing::ValuesIn(kGroupCases)), name);

}  // namespace kernelscope::test

#include "tests/model/on_device.h"

namespace kernelscope::test {
namespace {

const auto name = [](const auto& info) { return nameOf(std::get<1>(info.param)); };

}  // namespace

INSTANTIATE_TEST_SUITE_P(CPU, ReferenceOnDevice, testing::Combine(testing::Values(c10::DeviceType::CPU), testing::ValuesIn(kReferenceNames)), name);
INSTANTIATE_TEST_SUITE_P(CPU, GroupsOnDevice, testing::Combine(testing::Values(c10::DeviceType::CPU), testing::ValuesIn(kGroupCases)), name);

}  // namespace kernelscope::test

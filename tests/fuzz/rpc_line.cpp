// Any bytes as a line of the protocol: refused in words, or a message whose parts can be read and written again.

#include <cstdint>

#include "core/records/protocol.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<RpcMessage> message = parseLine({reinterpret_cast<const char*>(data), size});
    if (!message) {
        FUZZ_CHECK(!message.error().message.empty());
        const std::string answer = errorLine(nullptr, -32600, message.error());
        FUZZ_CHECK(answer.find('\n') == answer.size() - 1);
        return 0;
    }
    const nlohmann::json& body = message->result ? *message->result : message->params;
    (void)helloFromJson(body);
    (void)deviceInfoFromJson(body);
    (void)jobRequestFromJson(body);
    (void)jobStartedFromJson(body);
    (void)progressFromJson(body);
    (void)finishedFromJson(body);
    (void)telemetryFromJson(body);
    (void)rowRecordFromJson(body);
    const std::string line = message->result ? responseLine(message->id, body) : notificationLine(message->method, body);
    FUZZ_CHECK(line.find('\n') == line.size() - 1);
    return 0;
}

// kernelscope-engine: the worker process. Speaks the engine protocol on its standard input and output; not for people.

#include <cstring>
#include <iostream>

#include "core/device/system.h"
#include "core/engine/protocol_stream.h"
#include "core/engine/server.h"
#include "core/records/process_guard.h"
#include "core/records/version.h"

int main(int argc, char** argv) {
    kernelscope::guardProcess();
    if (argc > 1) {
        if (std::strcmp(argv[1], "--version") == 0) {
            std::cout << "kernelscope-engine " << kernelscope::kVersion << '\n';
            return 0;
        }
        const bool help = std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0;
        (help ? std::cout : std::cerr) << "kernelscope-engine takes no arguments but --version and --help: kernelscope and kernelscope-cli start it and speak to it.\n";
        return help ? 0 : 64;
    }
    // libtorch's trace complains on standard error about being started from a job's thread, which it survives.
    kernelscope::system::setEnvironmentDefault("KINETO_LOG_LEVEL", "99");
    kernelscope::ProtocolStream stream;
    return kernelscope::serve(stream);
}

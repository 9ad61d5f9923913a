#include "app/cli/program.h"
#include "core/client/process.h"

int main(int argc, char** argv) {
    kernelscope::denyOthersWriting();
    return kernelscope::cli::runProgram({argv + 1, argv + argc});
}

#include "app/cli/program.h"
#include "core/records/process_guard.h"

int main(int argc, char** argv) {
    kernelscope::guardProcess();
    return kernelscope::cli::runProgram({argv + 1, argv + argc});
}

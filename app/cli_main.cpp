#include "app/cli/program.h"

int main(int argc, char** argv) {
    return kernelscope::cli::runProgram({argv + 1, argv + argc});
}

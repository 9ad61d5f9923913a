// Writes rows to a store one by one and says each once it is written, until somebody kills it.
//   store_writer STORE RUN

#include <iostream>

#include "core/client/store.h"
#include "core/records/rows.h"

using namespace kernelscope;

int main(int argc, char** argv) {
    if (argc < 3) return 64;
    auto store = Store::open(argv[1]);
    if (!store) {
        std::cerr << store.error().message << std::endl;
        return 4;
    }
    RunHeader header;
    header.id = argv[2];
    header.kind = "profile";
    if (const auto made = (*store)->createRun(header); !made) {
        std::cerr << made.error().message << std::endl;
        return 4;
    }
    for (int i = 0;; ++i) {
        ProfileRow row{"decode", "type", "row " + std::to_string(i), "x"};
        row.spanUs = i;
        if (const auto put = (*store)->putRow(header.id, {"profile", row.name, valuesOf(row)}); !put) {
            std::cerr << put.error().message << std::endl;
            return 4;
        }
        std::cout << i << std::endl;
    }
}

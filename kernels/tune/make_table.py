#!/usr/bin/env python3
"""Turns the lines of kernelscope-kernel-tune into kernels/cuda/dispatch_table.h.

    kernelscope-kernel-tune > tune.csv
    make_table.py tune.csv [more.csv ...] > ../cuda/dispatch_table.h

Of the configurations measured in a cell it takes the one with the least weighted geometric mean of the cold, the chain and the warm time
(cold alone where the data does not fit L2). Cold counts most: it is what a kernel costs in a model whose weights and activations have been
evicted since. Later files replace the lines of earlier ones cell by cell.
"""

import collections
import csv
import math
import sys

HIDDEN = (896, 1536, 2048, 3584, 5120, 8192)
WIDTH = (4864, 8960, 11008, 18944, 13824, 29568)
ROWS = (1, 8, 64, 512, 2048, 8192, 32768)
TABLES = {"rms_norm": "kRmsNorm", "add_rms_norm": "kAddRmsNorm", "silu_mul": "kSiluMul", "rope": "kRope"}
TRIGGERS = ("kTop", "kWait", "kLoads", "kEnd")
PREFETCHES = ("kWeight", "kWave", "kAll", "kTable")
WEIGHTS = {"cold_us": 0.5, "warm_us": 0.3, "chain_us": 0.2}
LEAST_GAIN = 0.004  # a limit on blocks costs shared memory: it has to be worth more than this

HEAD = """#pragma once
// Which configuration runs at which shape, as data. Measured on: {device}.
// Made by kernels/tune/make_table.py from the lines of kernelscope-kernel-tune; do not edit by hand.
//
// Hidden sizes down (choice.h: kTableHidden; for silu_mul the MLP widths of those models), row counts across (kTableRows). Programmatic:
// with programmatic dependent launch; plain: without. A cell: configuration, trigger, prefetch, most blocks on a multiprocessor.

#include "kernels/cuda/choice.h"

namespace kernelscope::kernels::cuda {{

inline constexpr int kTop = KS_TRIGGER_TOP;
inline constexpr int kWait = KS_TRIGGER_AFTER_WAIT;
inline constexpr int kLoads = KS_TRIGGER_AFTER_LOADS;
inline constexpr int kEnd = KS_TRIGGER_END;
inline constexpr int kWeight = KS_PREFETCH_WEIGHT;
inline constexpr int kWave = KS_PREFETCH_FIRST_WAVE;
inline constexpr int kAll = KS_PREFETCH_ALL;
inline constexpr int kTable = KS_PREFETCH_TABLE;
"""


def score(line):
    times = {name: float(line[name]) for name in WEIGHTS}
    if times["cold_us"] <= 0:
        return math.inf
    if times["warm_us"] <= 0:
        return times["cold_us"]
    value = math.exp(sum(weight * math.log(times[name]) for name, weight in WEIGHTS.items()))
    capped = int(line["blocks_per_sm"]) > 0 and not line["config"].startswith("ring")
    return value * (1 + LEAST_GAIN) if capped else value


def read(paths):
    cells, device = {}, ""
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            first = file.readline()
            device = first[1:].strip() if first.startswith("#") else device
            lines = csv.DictReader(file)
            found = collections.defaultdict(list)
            for line in lines:
                found[line["op"], int(line["hidden"]), int(line["rows"]), line["plain"]].append(line)
        cells.update(found)
    return cells, device


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    cells, device = read(paths)
    print(HEAD.format(device=device), end="")
    for op, name in TABLES.items():
        for plain, suffix in (("0", "Programmatic"), ("1", "Plain")):
            print(f"\ninline constexpr NamedGrid {name}{suffix}{{{{")
            for hidden, width in zip(HIDDEN, WIDTH):
                choices = []
                for rows in ROWS:
                    best = min(cells[op, hidden, rows, plain], key=score)
                    trigger, prefetch = TRIGGERS[int(best["trigger"])], PREFETCHES[int(best["prefetch"])]
                    choices.append(f'{{"{best["config"]}", {trigger}, {prefetch}, {best["blocks_per_sm"]}}}')
                print(f"    // {width if op == 'silu_mul' else hidden}\n    {{{{" + ",\n      ".join(choices) + "}},")
            print("}};")
    print("\n}  // namespace kernelscope::kernels::cuda")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

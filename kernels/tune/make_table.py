#!/usr/bin/env python3
"""Turns the runs of `kernelscope-cli tune` into kernels/cuda/dispatch_table.h.

    kernelscope-cli tune --json tune.json
    make_table.py ../cuda/dispatch_table.h tune.json [more.json ...] [--only 'add_rms_norm 512x* plain']...

Cells that the runs speak of get their choice (later files count more), the others keep what the header has. --only takes the cells whose
name matches a pattern: where the runs' choices differ by less than the runs do, the table need not follow.
"""

import argparse
import fnmatch
import json
import os
import re
import sys

HIDDEN = (896, 1536, 2048, 3584, 5120, 8192)
WIDTH = (4864, 8960, 11008, 18944, 13824, 29568)
ROWS = (1, 8, 64, 512, 2048, 8192, 32768)
TABLES = {"rms_norm": "kRmsNorm", "add_rms_norm": "kAddRmsNorm", "silu_mul": "kSiluMul", "rope": "kRope"}

HEAD = """#pragma once
// Which configuration runs at which shape, as data. Measured on: {device}.
// Made by kernels/tune/make_table.py from the runs of `kernelscope-cli tune`; do not edit by hand.
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
inline constexpr int kHalf = KS_PREFETCH_HALF_WAVE;
"""


def read(paths, patterns):
    """Choices by (op, hidden, rows, launch), and the GPU. Later files replace cells of earlier ones."""
    cells, device = {}, ""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        device = run["run"]["device"]
        for row in run["rows"]:
            name = f'{row["op"]} {row["rows"]}x{row["hidden"]} {row["launch"]}'
            if patterns and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                continue
            if row["status"] in ("kept", "chosen") and row["config"] != "general":
                cells[row["op"], row["hidden"], row["rows"], row["launch"]] = row
    return cells, device


def standing(path):
    """The cells of the header as it is: what no file speaks of stays."""
    pattern = re.compile(r'\{"([^"]+)", k(\w+), k(\w+), (\d+)\}')
    cells, name, key = {}, None, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if found := re.search(r"NamedGrid k(\w+?)(Programmatic|Plain)\{\{", line):
                op = next(op for op, table in TABLES.items() if table == "k" + found[1])
                name, launch = op, found[2].lower()
            elif found := re.match(r"\s+// (\d+)$", line):
                key, rows = int(found[1]), iter(ROWS)
            for config, trigger, prefetch, blocks in pattern.findall(line):
                cells[name, key, next(rows), launch] = {"config": config, "trigger": trigger.lower(), "prefetch": prefetch.lower(),
                                                        "blocks_per_sm": int(blocks)}
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("header")
    parser.add_argument("runs", nargs="+", metavar="tune.json")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN")
    options = parser.parse_args()
    header, cells = options.header, standing(options.header)
    found, device = read(options.runs, options.only)
    cells.update(found)
    text = HEAD.format(device=device)
    for op, name in TABLES.items():
        for launch in ("programmatic", "plain"):
            text += f"\ninline constexpr NamedGrid {name}{launch.capitalize()}{{{{\n"
            for key in WIDTH if op == "silu_mul" else HIDDEN:
                choices = []
                for rows in ROWS:
                    cell = cells[op, key, rows, launch]
                    choices.append(f'{{"{cell["config"]}", k{cell["trigger"].capitalize()}, k{cell["prefetch"].capitalize()}, {cell["blocks_per_sm"]}}}')
                text += f"    // {key}\n    {{{{" + ",\n      ".join(choices) + "}},\n"
            text += "}};\n"
    text += "\n}  // namespace kernelscope::kernels::cuda\n"
    with open(header + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(header + ".new", header)
    return 0


if __name__ == "__main__":
    sys.exit(main())

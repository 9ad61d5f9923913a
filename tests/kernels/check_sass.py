#!/usr/bin/env python3
"""Looks at the machine code of every kernel that waits for its predecessor: no access to global memory may stand before the wait.

    check_sass.py cuobjdump library.so

A load that the compiler has moved above the wait is a race that a single launch never shows. PREEXIT is
griddepcontrol.launch_dependents, ACQBULK griddepcontrol.wait; prefetches into L2 (UBLKPF, CCTL) are allowed before it.
A long row of add_rms_norm stores its sums before it shuffles (norm_row.cuh): left alone the assembler stores them after, which costs 5 %
(not the kernels for plain launches, nor those that stream, which only plain launches use).
rope alone may look at a position early, to know which lines to prefetch: a load that L1 does not keep (STRONG.GPU), one in a kernel.
Exit status 0: all right; 1: a finding; 2: nothing to look at.
"""

import re
import subprocess
import sys

# kernels/cuda/programmatic.cuh: Trigger::none, the variants that are only launched without the programmatic attribute.
PLAIN_KERNEL = re.compile(r"TriggerE4E")
GLOBAL_ACCESS = re.compile(r"\b(LDG|LD|STG|ST|RED|REDG|ATOM|ATOMG|UBLKCP|UTMALDG|LDGSTS)(\.|\s)")
EARLY_LOOK = re.compile(r"\bLDG\.E\.64\.STRONG\.GPU\s")
# residual add, threads, vectors, one block a row, and at the end whether it streams.
LONG_ROW = re.compile(r"norm_row_kernelI.*?Lb1ELi(\d+)ELi(\d+)ELi1E.*?Lb0EEEv")
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);")


def kernels(text):
    """(name, [instruction text]) for each function."""
    name, code = None, []
    for line in text.splitlines():
        if line.strip().startswith("Function :"):
            if name:
                yield name, code
            name, code = line.split(":", 1)[1].strip(), []
        else:
            found = INSTRUCTION.match(line)
            if found:
                code.append(found.group(2))
    if name:
        yield name, code


def early_accesses(code):
    """Global accesses before the last wait; None for a kernel without a wait."""
    waits = [i for i, text in enumerate(code) if "ACQBULK" in text]
    if not waits:
        return None
    return [text for text in code[: waits[-1]] if GLOBAL_ACCESS.search(text)]


def forbidden(name, early):
    looks = [text for text in early if EARLY_LOOK.search(text)]
    return [text for text in early if text not in looks] + (looks if "rope_vector_kernel" not in name or len(looks) > 1 else [])


def late_stores(name, code):
    """How many vectors of the sum are stored after the first shuffle, in a row of 1024 vectors and more."""
    found = LONG_ROW.search(name)
    if not found or int(found[1]) * int(found[2]) < 1024:
        return 0
    shuffle = next(i for i, text in enumerate(code) if "SHFL" in text)
    return int(found[2]) - sum(1 for text in code[:shuffle] if re.search(r"\bSTG\.", text))


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    text = subprocess.run([argv[1], "--dump-sass", argv[2]], check=True, capture_output=True, text=True).stdout
    waiting, plain, findings, unwaiting = 0, 0, 0, []
    for name, code in kernels(text):
        early = early_accesses(code)
        if early is None:
            if PLAIN_KERNEL.search(name):
                plain += 1
            else:
                unwaiting.append(name)
            continue
        waiting += 1
        early = forbidden(name, early)
        if early:
            findings += 1
            print(f"{name}: before the wait: {early[0]}" + (f" and {len(early) - 1} more" if len(early) > 1 else ""))
        if late := late_stores(name, code):
            findings += 1
            print(f"{name}: {late} stores of the sum after the first shuffle")
    if waiting == 0:
        print("no kernel here waits for its predecessor: built for an architecture below 9.0?")
        return 2
    for name in unwaiting:
        print(f"{name}: never waits")
    print(f"{waiting} kernels wait; {findings} are not as they should be; {len(unwaiting)} never wait; "
          f"{plain} are for plain launches")
    return 1 if findings or unwaiting else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

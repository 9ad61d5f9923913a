#!/usr/bin/env python3
"""Writes the README's measured figures from the runs under docs/measurements/, or checks that they are still those.

    tools/figures.py            rewrites the blocks between <!-- figures NAME --> and <!-- end --> in README.md
    tools/figures.py --check    exits 1 if a block differs from what its files say
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASUREMENTS = ROOT / "docs" / "measurements"


def load(folder, name):
    return json.loads((MEASUREMENTS / folder / f"{name}.json").read_text(encoding="utf-8"))


def row(run, name):
    return next(each for each in run["rows"] if each["name"] == name)


def milliseconds(microseconds):
    return f"{microseconds / 1000:.2f}"


def profile(folder):
    """Decode of the 0.5B shape by type: wall clock, GPU time, gap."""
    run = load(folder, "decode-type")
    total, tax = row(run, "total"), row(run, "profiler tax")
    leaf_tax = row(load(folder, "decode-leaf"), "profiler tax")
    lines = [
        "| type | calls | kernels | span, ms | GPU, ms | share of span | share of GPU |",
        "|---|---|---|---|---|---|---|",
    ]
    closing = {"unattributed", "total", "profiler tax"}
    types = sorted((r for r in run["rows"] if r["name"] not in closing), key=lambda r: -r["span_share_pct"])
    for each in types + [row(run, "unattributed")]:
        lines.append(
            f"| {each['name']} | {each['calls'] or ''} | {each['kernels']} | {milliseconds(each['span_us'])} | {milliseconds(each['gpu_us'])} "
            f"| {each['span_share_pct']:.1f} % | {each['gpu_share_pct']:.1f} % |")
    plain = total["span_us"] - tax["span_us"]
    lines += [
        "",
        f"A step takes {milliseconds(plain)} ms, the GPU needs {milliseconds(total['gpu_us'])} ms of it ({100 * total['gpu_us'] / plain:.0f} %). "
        f"Profiler tax at type level {tax['span_share_pct']:.1f} % (95 % interval {tax['span_share_ci_low_pct']:.1f} to {tax['span_share_ci_high_pct']:.1f}), "
        f"at leaf level {leaf_tax['span_share_pct']:.1f} % ({leaf_tax['span_share_ci_low_pct']:.1f} to {leaf_tax['span_share_ci_high_pct']:.1f}).",
    ]
    return lines


BLOCKS = {"profile": profile}


def rewritten(text):
    def block(match):
        name, folder = match.group(1), match.group(2)
        return f"<!-- figures {name} {folder} -->\n" + "\n".join(BLOCKS[name](folder)) + "\n<!-- end -->"

    return re.sub(r"<!-- figures (\w+) (\S+) -->\n.*?<!-- end -->", block, text, flags=re.S)


def main():
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")
    new = rewritten(old)
    blocks = len(re.findall(r"<!-- figures ", old))
    if "--check" not in sys.argv:
        readme.write_text(new, encoding="utf-8")
        return 0
    if blocks == 0:
        print("README.md has no block of figures")
        return 1
    if old != new:
        print("README.md's figures are not those of docs/measurements: run tools/figures.py")
        return 1
    print(f"{blocks} block(s) of figures agree with docs/measurements")
    return 0


if __name__ == "__main__":
    sys.exit(main())

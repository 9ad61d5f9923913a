#!/usr/bin/env python3
"""Writes the README's measured figures from the runs under docs/measurements/, or checks that they are still those.

    tools/figures.py            rewrites the blocks between <!-- figures NAME --> and <!-- end --> in README.md
    tools/figures.py --check    exits 1 if a block differs from what its files say
"""
import csv
import json
import math
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


def crosscheck(folder):
    """GPU time without CUPTI against CUPTI's own records of eager passes."""
    runs = [("0.5B decode", "decode-type", "decode"), ("0.5B decode, rms_norm fused", "decode-norm-fused", "decode"),
            ("0.5B decode, all fused", "decode-all-fused", "decode"), ("7B decode", "7b-decode", "decode"), ("0.5B prefill 512", "prefill-512", "prefill")]
    lines = ["| run | kernels | trace, ms | ours, ms | total | largest error of a type above 2 % | largest share error, points | names that differ |",
             "|---|---|---|---|---|---|---|---|"]
    for title, name, phase in runs:
        rows = load(folder, name)["cross_check"][phase]["rows"]
        total = next(each for each in rows if each["name"] == "total")
        types = [each for each in rows if each["name"] not in ("total", "unattributed") and each["trace_share_pct"] > 2]
        worst = max(types, key=lambda each: abs(each["error_pct"]))
        share = max(types, key=lambda each: abs(each["share_error_points"]))
        lines.append(f"| {title} | {total['kernels']} | {milliseconds(total['trace_us'])} | {milliseconds(total['kernel_us'])} | {total['error_pct']:+.1f} % "
                     f"| {worst['error_pct']:+.1f} % ({worst['name']}) | {share['share_error_points']:+.2f} ({share['name']}) | {total['names_differ']} |")
    return lines


def repeats(folder):
    """How far shares move between runs of one command."""
    runs = [json.loads(file.read_text(encoding="utf-8"))["rows"] for file in sorted((MEASUREMENTS / folder / "repeat").glob("*.json"))]
    widest = {}
    for column in ("gpu_share_pct", "span_share_pct"):
        shares = {}
        for each in (row for rows in runs for row in rows):
            if each[column] is not None and each["name"] not in ("total", "profiler tax"):
                shares.setdefault(each["name"], []).append(each[column])
        spreads = {name: max(seen) - min(seen) for name, seen in shares.items()}
        name = max(spreads, key=spreads.get)
        widest[column] = f"{spreads[name]:.2f} points ({name})"
    return [f"Over {len(runs)} runs of `profile` of ten passes, each in a process of its own, no type's share of GPU time moves by more than {widest['gpu_share_pct']}; "
            f"of the spans, which hold what else the host does, by {widest['span_share_pct']}."]


def e2e(folder):
    """generate() natively and patched."""
    lines = ["| patched | mode | native, ms | patched, ms | speed-up (95 % interval) | over native eager | predicted by span / by GPU time | decode, tokens/s | same tokens |",
             "|---|---|---|---|---|---|---|---|---|"]
    for title, name in (("rms_norm", "e2e-rms-norm"), ("all four operators", "e2e-all")):
        rows = load(folder, name)["rows"]
        for patched in (each for each in rows if each["configuration"] == "patched"):
            native = next(each for each in rows if each["configuration"] == "native" and each["mode"] == patched["mode"])
            lines.append(f"| {title} | {patched['mode']} | {native['total_ms']:.0f} | {patched['total_ms']:.1f} "
                         f"| {patched['speedup']:.2f}x ({patched['speedup_ci_low']:.2f} to {patched['speedup_ci_high']:.2f}) | {patched['eager_speedup']:.2f}x "
                         f"| {patched['predicted_by_span']:.2f}x / {patched['predicted_by_gpu']:.2f}x | {patched['decode_tokens_per_s']:.0f} "
                         f"| {'yes' if patched['tokens_match'] else 'no'} |")
    return lines


def geometric_mean(values):
    return math.exp(sum(math.log(each) for each in values) / len(values))


def sweep(folder):
    """rms_norm over shapes: speed-up over the native sequence, cold device time, geometric mean over hidden sizes and both 16-bit types."""
    rows = load(folder, "sweep")["rows"]
    lines = ["| rows | fused | slowest cell | of the device's limit | PyTorch's fused norm |", "|---|---|---|---|---|"]
    for count in sorted({each["rows"] for each in rows}):
        fused = [each for each in rows if each["rows"] == count and each["variant"] == "fused"]
        aten = [each for each in rows if each["rows"] == count and each["variant"] == "aten"]
        lines.append(f"| {count} | {geometric_mean([each['speedup'] for each in fused]):.1f}x | {min(each['speedup'] for each in fused):.1f}x "
                     f"| {geometric_mean([each['limit_pct'] for each in fused]):.0f} % | {geometric_mean([each['speedup'] for each in aten]):.1f}x |")
    return lines


def launch(folder):
    """What programmatic launch is worth: cold and chained, with and without."""
    rows = load(folder, "sweep-launch")["rows"]
    time = {(each["op"], each["variant"], each["hidden"], each["rows"], each["cache"]): each["device_us"] for each in rows}
    lines = ["| operator | rows | over native, cold | the same without programmatic launch | chain: with over without |", "|---|---|---|---|---|"]
    for op in ("rms_norm", "add_rms_norm"):
        for count in (1, 8, 64):
            hiddens = sorted({key[2] for key in time})
            ratio = lambda a, b, cache: geometric_mean([time[op, a, hidden, count, cache] / time[op, b, hidden, count, cache] for hidden in hiddens])
            lines.append(f"| {op} | {count} | {ratio('native', 'fused', 'cold'):.1f}x | {ratio('native', 'fused_plain', 'cold'):.1f}x "
                         f"| {ratio('fused_plain', 'fused', 'chain'):.2f}x |")
    return lines


def peer_cells(folder, *names):
    """Cells of peers_bench.py by operator, type, size and rows, each a table of its candidates; a later file's cells replace an earlier one's."""
    cells = {}
    for name in names:
        read = {}
        with open(MEASUREMENTS / folder / f"{name}.csv", encoding="utf-8", newline="") as file:
            for each in csv.DictReader(file):
                read.setdefault((each["operator"], each["dtype"], each["size"], int(each["rows"])), {})[each["candidate"]] = each
        cells.update(read)
    return cells


def peer_ratios(cells, operators, cache="cold"):
    """Ours over the best peer, by cell; cells that were not timed in that state of the cache are left out."""
    ratios = {}
    for key, candidates in cells.items():
        peers = [float(each[f"{cache}_us"]) for each in candidates.values() if each["role"] == "peer" and each[f"{cache}_us"]]
        if key[0] in operators and peers and candidates["ours"][f"{cache}_us"]:
            ratios[key] = float(candidates["ours"][f"{cache}_us"]) / min(peers)
    return ratios


def chain_gains(folder):
    """tune --check: a plain launch's time in a chain over the programmatic one's, up to 64 rows, by operator."""
    unit = {"ns": 1e-3, "µs": 1.0, "ms": 1e3}
    times, gains = {}, {}
    for line in (MEASUREMENTS / folder / "tune-check.txt").read_text(encoding="utf-8").splitlines():
        words = re.match(r"(\w+)\s+(\d+)\s+(\d+)\s+(programmatic|plain)\s", line)
        figures = re.findall(r"([\d.]+) (ns|µs|ms)", line)
        if words and len(figures) == 3 and int(words[3]) <= 64:
            times[words[1], words[2], words[3], words[4]] = float(figures[2][0]) * unit[figures[2][1]]
    for (op, hidden, rows, launch), us in times.items():
        if launch == "programmatic":
            gains.setdefault(op, []).append(times[op, hidden, rows, "plain"] / us)
    return {op: geometric_mean(each) for op, each in gains.items()}


NORMS = ("rms_norm", "add_rms_norm")


def peers(folder):
    """Our kernels beside the best public one of each cell."""
    norms, others, plain = peer_cells(folder, "norms"), peer_cells(folder, "silu_rope"), peer_cells(folder, "plain")
    lines = ["| best peer's time over ours | cells | rows up to 64 | all | ours over the best peer, slowest cell |", "|---|---|---|---|---|"]
    for title, cells, operators, cache in (
            ("rms_norm and add_rms_norm", norms, NORMS, "cold"), ("the same, warm", norms, NORMS, "warm"),
            ("the same without programmatic launch, up to 512 rows", plain, NORMS, "cold"),
            ("silu_mul", others, ("silu_mul",), "cold"), ("rope", others, ("rope",), "cold")):
        ratios = peer_ratios(cells, operators, cache)
        small = [1 / each for key, each in ratios.items() if key[3] <= 64]
        lines.append(f"| {title} | {len(ratios)} | {geometric_mean(small):.2f}x | {geometric_mean([1 / each for each in ratios.values()]):.2f}x | {max(ratios.values()):.3f} |")
    return lines


OPERATORS = ("rms_norm", "add_rms_norm", "silu_mul", "rope")


def cpu_gains(folder):
    """By operator and kind of cell ("many": 128 rows or more in float32 and bfloat16; "half": the same in float16; "one": one row), a figure a run: call time, native over
    fused, geometric mean, and for one row the least."""
    gains = {}
    for file in sorted((MEASUREMENTS / folder).glob("sweep-*.json")):
        us = {}
        for each in json.loads(file.read_text(encoding="utf-8"))["rows"]:
            us[each["op"], each["dtype"], each["rows"], each["variant"]] = each["call_us"]
        for op in OPERATORS:
            kinds = {}
            for key in us:
                if key[0] == op and key[3] == "native":
                    kind = "one" if key[2] == 1 else "half" if key[1] == "float16" else "many"
                    kinds.setdefault(kind, []).append(us[key] / us[key[:3] + ("fused",)])
            for kind, each in kinds.items():
                gains.setdefault((op, kind), []).append(min(each) if kind == "one" else geometric_mean(each))
    return gains


def median_of(values):
    return sorted(values)[len(values) // 2]


def cpu(folder):
    """Our CPU kernels over the native sequence, by call time."""
    gains = cpu_gains(folder)
    lines = ["| operator | 128 to 2048 rows, float32 and bfloat16 (of the runs) | the same, float16 | one row, slowest type |", "|---|---|---|---|"]
    for op in OPERATORS:
        many, half, one = (gains[op, kind] for kind in ("many", "half", "one"))
        lines.append(f"| {op} | {median_of(many):.1f}x ({min(many):.1f}x to {max(many):.1f}x) | {median_of(half):.1f}x | {median_of(one):.1f}x |")
    return lines


BLOCKS = {"peers": peers, "cpu": cpu, "profile": profile, "crosscheck": crosscheck, "repeats": repeats, "e2e": e2e, "sweep": sweep, "launch": launch}


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

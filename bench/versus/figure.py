#!/usr/bin/env python3
"""Figure and table of the README: Kiln beside its peers, from the newest results of bench/results/versus.json.

  bench/versus/figure.py            writes docs/versus.svg
  bench/versus/figure.py --table    prints the table of one CPU (--cpu "AMD EPYC 26/2")
  bench/versus/figure.py --check    fails if docs/versus.svg or the README's table is not what would be written

A ratio is the peer's time over Kiln's: above 1 Kiln is faster. Of several peers the faster one counts.
"""
import argparse
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURE, README = ROOT / "docs/versus.svg", ROOT / "README.md"
CPUS = {"AMD EPYC 26/2": ("Zen 5", "#1b6ca8"), "AMD EPYC 25/17": ("Zen 4", "#6aa84f"), "AMD EPYC 25/1": ("Zen 3", "#c07d2b")}
PEERS = {"onednn": "oneDNN", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime", "mkl": "MKL"}
GROUPS = [  # title, regular expression of the operators, peers
    ("23 convolutions of ResNet-50, channels last", r"RL\d+", ["onednn", "openvino"]),
    ("the same, channels first", r"R\d+", ["onnxruntime"]),
    ("grouped, depthwise, transposed, channels last", r"(GRPL|DEPL|T2DL)\d+", ["onednn"]),
    ("matrix products, f32", r"MM_.*", ["mkl"]),
    ("softmax", r"SFM\d+", ["onnxruntime", "openvino"]),
]


def rows(benchmarks, cpu):
    """For each group: (what, peers, ratios by operator, results)."""
    newest = {tuple(b["name"].split("/")): b for b in benchmarks if b["cpu"] == cpu}
    for what, operators, peers in GROUPS:
        ratios, used = {}, []
        for operator in dict.fromkeys(name for name, _ in newest if re.fullmatch(operators, name)):
            results = [newest[operator, peer] for peer in peers if (operator, peer) in newest]
            if results:
                used.append(min(results, key=lambda b: b["ratio"]))
                ratios[operator] = used[-1]["ratio"]
        if ratios:
            yield what, " or ".join(PEERS[peer] for peer in peers), ratios, used


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(benchmarks, cpu):
    lines = ["| one core, f32 | beside | operators | geometric mean | least | most |", "|---|---|---|---|---|---|"]
    dates, commits = set(), []
    for what, peers, ratios, used in rows(benchmarks, cpu):
        values = ratios.values()
        lines.append(f"| {what} | {peers} | {len(ratios)} | {geometric_mean(values):.2f} | {min(values):.2f} | {max(values):.2f} |")
        dates |= {b["date"][:10] for b in used if "date" in b}
        commits += [b["commit"] for b in used]
    newest = [b["commit"] for b in benchmarks if b["commit"] in commits][-1]
    when = " to ".join(sorted({min(dates), max(dates)})) if dates else "without dates"
    said = f"{CPUS[cpu][0]} ({cpu}), {when}, newest commit {newest}"
    return lines + ["", f"Peer's time over Kiln's, in turns, on {said}."]


def figure(benchmarks):
    """Bars from 1 to the geometric mean, with a line from the least to the most."""
    left, width, bar, gap, top = 300, 420, 13, 16, 46
    most = 4.0

    def x(ratio):
        return left + width * math.log(min(max(ratio, 0.5), most) / 0.5) / math.log(most / 0.5)

    groups = {}
    for cpu in CPUS:
        for what, peers, ratios, _ in rows(benchmarks, cpu):
            groups.setdefault((what, peers), []).append((cpu, list(ratios.values())))
    height = top + sum(len(bars) * bar + gap for bars in groups.values()) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="10" y="18" font-size="14">Time of the peer over time of Kiln, one core: right of 1 Kiln is faster</text>']
    for i, (name, colour) in enumerate(CPUS.values()):
        out += [f'<rect x="{left + 70 * i}" y="27" width="10" height="10" fill="{colour}"/>',
                f'<text x="{left + 70 * i + 14}" y="36">{name}</text>']
    for tick in (0.5, 0.7, 1, 1.5, 2, 3, 4):
        weight = 1.5 if tick == 1 else 0.5
        out += [f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top}" y2="{height - 26}" stroke="#888" stroke-width="{weight}"/>',
                f'<text x="{x(tick):.1f}" y="{height - 10}" text-anchor="middle">{tick}</text>']
    y = top + gap / 2
    for (what, peers), bars in groups.items():
        middle = y + len(bars) * bar / 2
        out += [f'<text x="10" y="{middle - 2:.1f}">{what}</text>',
                f'<text x="10" y="{middle + 12:.1f}" fill="#666">beside {peers}</text>']
        for cpu, values in bars:
            mean, colour = geometric_mean(values), CPUS[cpu][1]
            a, b = sorted((x(1), x(mean)))
            line = y + bar / 2
            out += [f'<rect x="{a:.1f}" y="{y + 1:.1f}" width="{b - a:.1f}" height="{bar - 2}" fill="{colour}"/>',
                    f'<line x1="{x(min(values)):.1f}" x2="{x(max(values)):.1f}" y1="{line:.1f}" y2="{line:.1f}" stroke="#222"/>']
            y += bar
        y += gap
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cpu", default="AMD EPYC 26/2", choices=CPUS)
    options = parser.parse_args()
    benchmarks = json.loads((ROOT / "bench/results/versus.json").read_text())["benchmarks"]
    lines = "\n".join(table(benchmarks, options.cpu))
    if options.table:
        print(lines)
    elif not options.check:
        FIGURE.write_text(figure(benchmarks))
    elif FIGURE.read_text() != figure(benchmarks) or lines not in README.read_text():
        sys.exit("bench/versus/figure.py writes another figure than docs/versus.svg, or --table is not what the README has")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Operators beside peers (MetaSchedule, Fig. 8): a plot of what bench/versus/compare.py measured.

  bench/papers/beside_peers.py [--cpu NAME] [OPERATOR...]

Measures nothing: bench/results/versus.json is what it reads, of one CPU (the newest entry's), bench/results/peers.svg what it writes.
"""
import json

import experiment


def main():
    parser = experiment.start(__doc__, searches=False)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--cpu")
    options = parser.parse_args()
    results = experiment.Results("peers")
    report = json.loads((experiment.ROOT / "bench/results/versus.json").read_text())
    cpu = options.cpu or report["benchmarks"][-1]["cpu"]
    ratios = {tuple(b["name"].split("/")): b["ratio"] for b in report["benchmarks"] if b["cpu"] == cpu}
    names = options.operators or list(dict.fromkeys(name for name, _ in ratios))
    peers = sorted({peer for _, peer in ratios})

    def draw(figure):
        axes = figure.add_subplot(1, 1, 1, ylabel="speed of Kiln / of the peer", yscale="log")
        width = 0.8 / len(peers)
        for i, peer in enumerate(peers):
            axes.bar([x + i * width for x in range(len(names))], [ratios.get((name, peer), float("nan")) for name in names], width,
                     label=peer.replace("_", ", "))
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_xticks([x + 0.4 - width / 2 for x in range(len(names))], names, rotation=60, ha="right")
        axes.legend(ncols=len(peers))

    results.plot(draw, figsize=(max(7, 0.6 * len(names)), 4))
    for peer in peers:
        print(f"{peer:14} geometric mean {experiment.geometric_mean([ratios[name, peer] for name in names if (name, peer) in ratios]):.3f}")


if __name__ == "__main__":
    main()

"""Scores Apache Otava's default on the series that bench/history.sh wrote: kind, step, place, values."""

import sys
import warnings
from collections import defaultdict

from otava.analysis import compute_change_points

warnings.filterwarnings("ignore")
cells = defaultdict(lambda: [0, 0, 0, 0, 0])
for line in open(sys.argv[1]):
    kind, step, place, *values = line.split(",")
    step, place = float(step), int(place)
    found, _ = compute_change_points(
        [float(v) for v in values], window_len=50, max_pvalue=0.001, min_magnitude=0.0
    )
    away = [abs(c.index - place) for c in found]
    others = len(away) if step == 0 else sum(a > 3 for a in away)
    cell = cells[(kind, step)]
    cell[0] += 1
    cell[1] += step > 0 and any(a <= 1 for a in away)
    cell[2] += step > 0 and any(a <= 3 for a in away)
    cell[3] += others > 0
    cell[4] += others
print(f"{'noise':10} {'step':>5} {'within 1':>9} {'within 3':>9} {'series +':>9} {'others':>8}")
for (kind, step), (n, one, three, series, others) in cells.items():
    print(f"{kind:10} {step:5.1f} {100 * one / n:8.1f}% {100 * three / n:8.1f}% {100 * series / n:8.1f}% {others:8}")

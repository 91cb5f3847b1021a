"""Scores Apache Otava's default on the series that bench/history.sh wrote (label, place or nothing, values), and prints
what it finds in files of ratios."""

import csv
import sys
import warnings
from collections import defaultdict

from otava.analysis import compute_change_points

warnings.filterwarnings("ignore")


def places(values):
    found, _ = compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    return [c.index for c in found]


cells = defaultdict(lambda: [0, 0, 0, 0, 0])
for line in open(sys.argv[1]):
    label, place, *values = line.split(",")
    away = [abs(i - int(place or -100)) for i in places([float(v) for v in values])]
    others = sum(a > 3 for a in away)
    cell = cells[label]
    cell[0] += 1
    cell[1] += any(a <= 1 for a in away)
    cell[2] += any(a <= 3 for a in away)
    cell[3] += others > 0
    cell[4] += others
print(f"{'series':34} {'within 1':>9} {'within 3':>9} {'series +':>9} {'others':>8}")
for label, (n, one, three, series, others) in cells.items():
    print(f"{label:34} {100 * one / n:8.1f}% {100 * three / n:8.1f}% {100 * series / n:8.1f}% {others:8}")
for path in sys.argv[2:]:
    print(path, places([float(row["ratio"]) for row in csv.DictReader(open(path))]))

"""Own time a trial of two builds of assay, `before` and `after`, in turn: the slope of (wall time of the
whole command less the sum of its measured times) over the number of runs, as in bench/hyperfine.py, for
a program that prints nothing and one that prints a line (whose log is a file in the archive)."""

import math
import statistics
import sys
import tempfile

sys.argv, (before, after, rounds) = [sys.argv[0], sys.argv[2], "0", "0"], sys.argv[1:4]
import hyperfine as bench  # noqa: E402  its `assay` runs the binary that it is told

ROUNDS = int(rounds)
FEW, MANY = 50, 1050


def own(binary, command, output, folder):
    bench.ASSAY = binary
    walls = []
    for runs in (FEW, MANY):
        out = f"{folder}/assay.json"
        argv = [binary, "run", "--quiet", "--output", output, "--blocks", str(runs)]
        argv += ["--export", f"hyperfine={out}", "--", *command.split()]
        wall = bench.timed(argv, bench.environment(folder))
        walls.append(wall - sum(bench.json.load(open(out))["results"][0]["times"]))
    return (walls[1] - walls[0]) / (MANY - FEW) * 1e6


def interval(values):
    half = bench.t975(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.fmean(values)
    return f"{mean:.1f} ({mean - half:.1f}..{mean + half:.1f})"


for command, output in (("true", "discard"), ("echo done", "keep")):
    found = {before: [], after: []}
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(ROUNDS):
            for binary in (before, after) if round_ % 2 == 0 else (after, before):
                found[binary].append(own(binary, command, output, folder))
    differences = [a - b for b, a in zip(found[before], found[after])]
    for name, binary in (("before", before), ("after", after)):
        print(f"`{command}`: own time {name}: {interval(found[binary])} us a trial, median {statistics.median(found[binary]):.1f}")
    print(f"`{command}`: after - before: {interval(differences)} us a trial, median {statistics.median(differences):.1f}")

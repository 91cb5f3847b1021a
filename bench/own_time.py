"""Own time a trial of two builds of assay, `before` and `after`, in turn.

1. The slope of (wall time of the whole command less the sum of its measured times) over the number of
   runs, as in bench/hyperfine.py, for a program that prints nothing and one that prints a line (whose
   log is a file in the archive).
2. The time between two trials, by the records: the median of a run, of `true` and of 100 ms, in which the
   caches went cold while the program slept. Beside the two builds, in turn, the same of a loop that does no
   more than it must (own-floor.c)."""

import statistics
import sys
import tempfile

from pairs import interval

sys.argv, (before, after, rounds, floor) = [sys.argv[0], sys.argv[2], "0", "0"], sys.argv[1:5]
import hyperfine as bench  # noqa: E402  its `assay` runs the binary that it gets

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


def between(binary, command, runs, folder):
    if binary == floor:
        argv = [floor, f"{folder}/lines", str(runs), *command.split()]
        return float(bench.subprocess.run(argv, capture_output=True, check=True).stdout)
    argv = [binary, "run", "--quiet", "--output", "discard", "--blocks", str(runs), "--", *command.split()]
    bench.timed(argv, bench.environment(folder))
    shown = bench.subprocess.run([binary, "archive", "show", "last", "--json"], env=bench.environment(folder), capture_output=True, check=True)
    records = bench.json.loads(shown.stdout)["records"]
    return statistics.median(b["start_ns"] - a["end_ns"] for a, b in zip(records, records[1:])) / 1e3


def shown(values):
    return "{:.1f} ({:.1f}..{:.1f})".format(*interval(values))


def turns(what, unit, rounds, measure, others=()):
    sides = [("before", before), ("after", after), *others]
    found = {binary: [] for _, binary in sides}
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(rounds):
            for _, binary in sides if round_ % 2 == 0 else sides[::-1]:
                found[binary].append(measure(binary, folder))
    differences = [a - b for b, a in zip(found[before], found[after])]
    for name, binary in sides:
        print(f"{what} {name}: {shown(found[binary])} {unit}, median {statistics.median(found[binary]):.1f}")
    print(f"{what} after - before: {shown(differences)} {unit}, median {statistics.median(differences):.1f}", flush=True)


for command, output in (("true", "keep"), ("echo done", "keep")):
    turns(f"`{command}`: own time", "us a trial", ROUNDS, lambda binary, folder: own(binary, command, output, folder))
least = [("at least", floor)] if floor else []
for command, runs in (("true", 1000), ("sleep 0.1", 30)):
    measure = lambda binary, folder: between(binary, command, runs, folder)  # noqa: B023  called at once
    turns(f"`{command}`: between trials", "us", max(3, ROUNDS // 3), measure, least)

"""Own time a trial of two builds of assay, `before` and `after`, in turn.

1. The slope of (wall time of the whole command less the sum of its measured times) over the number of
   runs, as in bench/hyperfine.py, for a program that prints nothing and one that prints a line (whose
   log is a file in the archive).
2. The time between two trials of 100 ms, by the records: the median of a run, whose caches went cold
   while the program slept."""

import statistics
import sys
import tempfile

from pairs import interval

sys.argv, (before, after, rounds) = [sys.argv[0], sys.argv[2], "0", "0"], sys.argv[1:4]
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


def between(binary, folder):
    argv = [binary, "run", "--quiet", "--output", "discard", "--blocks", "30", "--", "sleep", "0.1"]
    bench.timed(argv, bench.environment(folder))
    shown = bench.subprocess.run([binary, "archive", "show", "last", "--json"], env=bench.environment(folder), capture_output=True, check=True)
    records = bench.json.loads(shown.stdout)["records"]
    return statistics.median(b["start_ns"] - a["end_ns"] for a, b in zip(records, records[1:])) / 1e3


def shown(values):
    return "{:.1f} ({:.1f}..{:.1f})".format(*interval(values))


def turns(what, unit, rounds, measure):
    found = {before: [], after: []}
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(rounds):
            for binary in (before, after) if round_ % 2 == 0 else (after, before):
                found[binary].append(measure(binary, folder))
    differences = [a - b for b, a in zip(found[before], found[after])]
    for name, binary in (("before", before), ("after", after)):
        print(f"{what} {name}: {shown(found[binary])} {unit}, median {statistics.median(found[binary]):.1f}")
    print(f"{what} after - before: {shown(differences)} {unit}, median {statistics.median(differences):.1f}", flush=True)


for command, output in (("true", "discard"), ("echo done", "keep")):
    turns(f"`{command}`: own time", "us a trial", ROUNDS, lambda binary, folder: own(binary, command, output, folder))
turns("`sleep 0.1`: between trials", "us", max(3, ROUNDS // 3), between)

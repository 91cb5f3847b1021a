"""Recorded block traces: see bench/iotrace.sh."""

import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from pairs import ratio as mean_ratio

EXAMPLES = sys.argv[1]
ASK, GENERATE = f"{EXAMPLES}/ask", f"{EXAMPLES}/generate"

# One pass over the rows: by disk and direction the counts, bytes and both histograms by powers of two.
SQL = """SELECT d, o, floor(log2(b)) AS size, floor(log2(l)) AS latency, count(*) AS n, sum(b) AS bytes
         FROM ({}) GROUP BY ALL"""
DUCKDB = {
    "csv": SQL.format(
        "SELECT column1 || '.' || column2 AS d, column3 AS o, column5 AS b, column6 AS l FROM "
        "read_csv('{path}', header = false, columns = {{'column0': 'BIGINT', 'column1': 'VARCHAR', "
        "'column2': 'INTEGER', 'column3': 'VARCHAR', 'column4': 'BIGINT', 'column5': 'BIGINT', "
        "'column6': 'BIGINT'}})"
    ),
    "parquet": SQL.format(
        "SELECT device AS d, operation AS o, bytes AS b, latency_ns // 1000 AS l FROM read_parquet('{path}')"
    ),
}
DUCKDB_PROGRAM = """import duckdb, sys
c = duckdb.connect(config={'threads': 1})
c.execute('SET enable_progress_bar = false')
print(sum(r[4] for r in c.execute(sys.argv[1]).fetchall()))"""
POLARS_PROGRAM = """import polars as pl, sys
kind, path = sys.argv[1:]
if kind == 'csv':
    names = ['t', 'h', 'd', 'o', 'a', 'b', 'l']
    types = dict(zip(names, [pl.Int64, pl.String, pl.Int32, pl.String, pl.Int64, pl.Int64, pl.Int64]))
    rows, keys = pl.scan_csv(path, has_header=False, schema=types), ['h', 'd', 'o']
else:
    rows = pl.scan_parquet(path).select(pl.col('device').alias('d'), pl.col('operation').alias('o'),
        pl.col('bytes').alias('b'), (pl.col('latency_ns') // 1000).alias('l'))
    keys = ['d', 'o']
log = lambda c: pl.col(c).log(2).floor()
out = rows.group_by(*keys, log('b').alias('size'), log('l').alias('latency')).agg(
    pl.len().alias('n'), pl.col('b').sum().alias('bytes')).collect(engine='streaming')
print(out['n'].sum())"""


def run(argv, env=None, cwd=None):
    """A program's output, its CPU seconds, its peak memory in KiB and its wall seconds."""
    read, write = os.pipe()
    began = os.times().elapsed
    pid = subprocess.Popen(argv, stdout=write, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}, cwd=cwd)
    os.close(write)
    with os.fdopen(read) as out:
        text = out.read()
    _, status, usage = os.wait4(pid.pid, 0)
    if status != 0:
        sys.exit(f"{argv[0]} ended with {status}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.times().elapsed - began


def ask(path, threads):
    text, cpu, peak, wall = run([ASK, path, str(threads)])
    return json.loads(text), cpu, peak, wall


def blkparse_btt(folder, name):
    """The two programs as people run them; D2C's N is how many I/Os btt gives a device latency."""
    _, cpu, peak, wall = run(["blkparse", "-q", "-O", "-i", name, "-d", "dump"], cwd=folder)
    _, more, other, longer = run(["btt", "-i", "dump", "-o", "btt"], cwd=folder)
    with open(f"{folder}/btt.avg") as f:
        line = next(l for l in f if l.startswith("D2C"))
    return int(line.split()[-1]), cpu + more, max(peak, other), wall + longer


def variants(folder, events):
    """By input: its events, its size, and what reads it; each variant gives (n, CPU s, peak KiB, wall s)."""
    cores = os.cpu_count()
    trace, csv, parquet = (f"{folder}/{n}" for n in ("b", "m.csv", "io.parquet"))
    subprocess.run([GENERATE, "blktrace", str(events // 5), trace, "2"], check=True)
    subprocess.run([GENERATE, "msr", str(events), csv], check=True)
    run([ASK, csv, "1", "histograms", parquet])

    def ours(path, threads):
        def measure():
            answer, cpu, _, wall = ask(path, threads)
            # Its own word: what wait4 tells has this program's memory in it, from before the exec.
            return answer["events"], cpu, answer["peak_memory_kib"], wall
        return measure

    def duckdb(kind, path):
        def measure():
            text, *cost = run([sys.executable, "-c", DUCKDB_PROGRAM, DUCKDB[kind].format(path=path)])
            return int(text), *cost
        return measure

    def polars(kind, path):
        def measure():
            text, *cost = run([sys.executable, "-c", POLARS_PROGRAM, kind, path], {"POLARS_MAX_THREADS": "1"})
            return int(text), *cost
        return measure

    def peers(kind, path):
        found = {}
        for name, make in (("DuckDB, 1 thread", duckdb), ("Polars, 1 thread", polars)):
            module = name.split(",")[0].lower()
            if importlib.util.find_spec(module):
                found[name] = make(kind, path)
            else:
                print(f"skipped: because {sys.executable} has no {module}", file=sys.stderr)
        return found

    inputs = {}
    of_blktrace = {"assay, 1 thread": ours(trace, 1), f"assay, {cores} threads": ours(trace, cores)}
    if shutil.which("btt") and shutil.which("blkparse"):
        of_blktrace["blkparse + btt"] = lambda: (events // 5 * 5, *blkparse_btt(folder, "b")[1:])
    else:
        print("skipped: because blkparse and btt are not installed", file=sys.stderr)
    inputs["blktrace, two CPUs' files"] = of_blktrace
    for name, kind, path in (("MSR CSV", "csv", csv), ("Parquet", "parquet", parquet)):
        inputs[name] = {"assay, 1 thread": ours(path, 1), f"assay, {cores} threads": ours(path, cores),
                        **peers(kind, path)}
    return inputs


def compare(rounds, events):
    with tempfile.TemporaryDirectory() as folder:
        inputs = variants(folder, events)
        print("| input | program | events in a CPU second | CPU, ratio to assay with one thread | wall | peak memory |")
        print("|---|---|---|---|---|---|")
        for name, programs in inputs.items():
            seen = {p: [] for p in programs}
            for number in range(rounds):
                order = list(programs) if number % 2 == 0 else list(reversed(programs))
                for program in order:
                    seen[program].append(programs[program]())
            base = seen["assay, 1 thread"]
            for program, measured in seen.items():
                if {m[0] for m in measured} != {base[0][0]}:
                    sys.exit(f"{program} counted {measured[0][0]} of {base[0][0]} in {name}")
                rate = statistics.median(m[0] / m[1] for m in measured)
                ratio = "1"
                if program != "assay, 1 thread":
                    ratio = "{:.2f} ({:.2f}..{:.2f})".format(*mean_ratio([m[1] / b[1] for m, b in zip(measured, base)]))
                wall = statistics.median(m[3] for m in measured)
                peak = max(m[2] for m in measured) / 1024
                print(f"| {name} | {program} | {rate / 1e6:.1f} M | {ratio} | {wall:.2f} s | {peak:.0f} MiB |", flush=True)
        hot_spot(folder, events // 10)


def scaling(rounds, events):
    """One thread against one for each CPU, in turn, the order reversed every other round."""
    cores = os.cpu_count()
    with tempfile.TemporaryDirectory() as folder:
        blktrace, csv, parquet = (f"{folder}/{n}" for n in ("b", "m.csv", "io.parquet"))
        subprocess.run([GENERATE, "blktrace", str(events // 5), blktrace, "2"], check=True)
        subprocess.run([GENERATE, "msr", str(events), csv], check=True)
        run([ASK, csv, "1", "histograms", parquet])
        one, all_ = "1 thread", f"{cores} threads"
        print(f"| input | wall, {one} | wall, {all_} | times as quick (95 %) | CPU, ratio (95 %) |")
        print("|---|---|---|---|---|")
        for name, path in (("blktrace, two CPUs' files", blktrace), ("MSR CSV", csv), ("Parquet", parquet)):
            seen = {1: [], cores: []}
            for number in range(rounds):
                for threads in sorted(seen, reverse=number % 2 == 1):
                    answer, cpu, _, wall = ask(path, threads)
                    seen[threads].append((answer["events"], cpu, wall))
            if len({m[0] for measured in seen.values() for m in measured}) != 1:
                sys.exit(f"{name}: not every reading counted the same")
            pairs = list(zip(seen[1], seen[cores]))
            quick = "{:.2f} ({:.2f}..{:.2f})".format(*mean_ratio([a[2] / b[2] for a, b in pairs]))
            cpu = "{:.2f} ({:.2f}..{:.2f})".format(*mean_ratio([b[1] / a[1] for a, b in pairs]))
            wall = [statistics.median(m[2] for m in seen[threads]) for threads in (1, cores)]
            print(f"| {name} | {wall[0]:.2f} s | {wall[1]:.2f} s | {quick} | {cpu} |", flush=True)


def hot_spot(folder, ios):
    subprocess.run([GENERATE, "hot-spot", str(ios), f"{folder}/h", "2"], check=True)
    answer, *_ = ask(f"{folder}/h", 1)
    print(f"\nA hot spot of {ios} I/Os, several for the same blocks under way at once:\n")
    print(f"    assay    matched {answer['matched']} ({answer['matched'] / ios:.1%}), "
          f"{answer['ambiguous']} ({answer['ambiguous'] / ios:.1%}) ambiguous, and reports it")
    if shutil.which("btt") and shutil.which("blkparse"):
        n, *_ = blkparse_btt(folder, "h")
        print(f"    btt      gives D2C of {n} ({n / ios:.1%}), and says nothing of the others")


def memory(gigabytes):
    """Peak memory on traces that are made while they are read."""
    for kind, each in (("stream", 240), ("msr", 53.5)):
        ios = int(gigabytes * 1e9 / each)
        maker = subprocess.Popen([GENERATE, kind, str(ios), "/dev/stdout"], stdout=subprocess.PIPE)
        reader = subprocess.Popen([ASK, "-", "2", "everything"], stdin=maker.stdout, stdout=subprocess.PIPE)
        maker.stdout.close()
        answer = json.loads(reader.stdout.read())
        if maker.wait() != 0 or reader.wait() != 0:
            sys.exit(f"{kind} failed")
        print(f"{kind}: {answer['ios']} I/Os of {ios}, {answer['matched']} matched, {gigabytes} GB, "
              f"peak {answer['peak_memory_kib'] / 1024:.1f} MiB, {answer['wall_s']:.0f} s", flush=True)


if len(sys.argv) > 2 and sys.argv[2] == "memory":
    memory(float(sys.argv[3]) if len(sys.argv) > 3 else 10.0)
elif len(sys.argv) > 2 and sys.argv[2] == "scaling":
    numbers = [int(word) for word in sys.argv[3:5]]
    scaling(*numbers, *(10, 4_000_000)[len(numbers):])
else:
    compare(int(sys.argv[2]) if len(sys.argv) > 2 else 7, int(sys.argv[3]) if len(sys.argv) > 3 else 4_000_000)

"""bench/redis.sh: EXAMPLES ASSAY [peers [ROUNDS [SECONDS]] | search [ROUNDS]]."""

import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "memcached"))
import pairs
from server import CLIENT_CPU, Server, command, fields

CONNECTIONS, KEYS, VALUE = 64, 100_000, 100


class Redis(Server):
    """A `redis-server` without persistence, bound to one CPU, on a free port; ended on exit."""

    name = "redis-server"

    def options(self):
        return ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]

    def fill(self, prefix, first):
        """Sets keys of 16 bytes, `prefix` and decimal numbers, so that every get of a peer hits."""
        value = "x" * VALUE
        digits = 16 - len(prefix)
        lines = []
        for i in range(first, first + KEYS):
            key = f"{prefix}{i:0{digits}d}"
            lines.append(f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${VALUE}\r\n{value}\r\n")
        subprocess.run(["redis-cli", "-p", str(self.port), "--pipe"], input="".join(lines).encode(), check=True,
                       stdout=subprocess.DEVNULL)


def ours(examples, server, seconds, depth, what, preload=False):
    words = [examples / "memload", f"tcp=127.0.0.1:{server.port}", f"cpus={CLIENT_CPU}", "protocol=resp2",
             f"connections={CONNECTIONS}", f"depth={depth}", f"keys={KEYS}", f"value={VALUE}",
             f"gets={int(what == 'get')}", "ramp=0.3", f"steady={seconds}",
             *([] if preload else ["preload=no"])]
    f = fields(command(words)[0])
    if int(f["errors"]) or int(f["evicted"]):
        raise SystemExit(f"memload saw errors: {f}")
    return float(f["cpu_us"]), float(f["throughput"])


def redis_benchmark(server, seconds, depth, what, rate):
    n = max(int(rate * seconds) // 1000 * 1000, 10_000)
    out, cpu, _ = command(["redis-benchmark", "-p", server.port, "-t", what, "-r", KEYS, "-n", n, "-c", CONNECTIONS,
                           "-P", depth, "-d", VALUE, "--csv"])
    return cpu * 1e6 / n, float(re.findall(r'"([\d.]+)"', out.splitlines()[-1])[0])


def memtier(server, seconds, depth, what):
    out, cpu, _ = command(["memtier_benchmark", "-p", server.port, "-t", 1, "-c", CONNECTIONS, f"--pipeline={depth}",
                           "--ratio=0:1" if what == "get" else "--ratio=1:0", f"--test-time={math.ceil(seconds)}",
                           "--hide-histogram", f"--data-size={VALUE}", "--key-prefix=memtier-",
                           "--key-minimum=10000000", f"--key-maximum={10_000_000 + KEYS - 1}"])
    rate = float(re.search(r"^Totals\s+([\d.]+)", out, re.M)[1])
    return cpu * 1e6 / (rate * math.ceil(seconds)), rate


def floor(program, server, seconds, depth):
    """A client that only sends one batch again and again and counts the bytes of the answers."""
    answer = len(f"${VALUE}\r\n") + VALUE + len("\r\n")
    out = command([program, server.port, CONNECTIONS, depth, seconds, "key:000000000001", answer])[0].split()
    return float(out[0]), float(out[1])


def peers(examples, rounds=6, seconds=1.5):
    tier = shutil.which("memtier_benchmark")
    if not tier:
        print("absent: memtier_benchmark (https://github.com/RedisLabs/memtier_benchmark)")
    print("CPU of the client per operation, µs: median (range); ratio: geometric mean [95 % interval]\n")
    print("| depth | operation | assay | redis-benchmark | memtier | floor | assay / the better one | kops/s |")
    print("|---|---|---|---|---|---|---|---|")
    with Redis() as server, tempfile.TemporaryDirectory() as folder:
        least = pathlib.Path(folder) / "redis-floor"
        subprocess.run(["cc", "-O2", "-o", least, pathlib.Path(__file__).parent / "redis-floor.c"], check=True)
        ours(examples, server, 0.1, 16, "get", preload=True)
        server.fill("key:", 0)
        server.fill("memtier-", 10_000_000)
        for depth in (1, 64):
            for what in ("get", "set"):
                rate = ours(examples, server, 0.5, depth, what)[1]
                sides = {"assay": lambda: ours(examples, server, seconds, depth, what),
                         "redis-benchmark": lambda: redis_benchmark(server, seconds, depth, what, rate)}
                if tier:
                    sides["memtier"] = lambda: memtier(server, seconds, depth, what)
                if what == "get":
                    sides["floor"] = lambda: floor(least, server, seconds, depth)
                rows = {name: [] for name in sides}
                for _ in range(rounds):
                    for name in random.sample(list(sides), len(sides)):
                        rows[name].append(sides[name]())
                cpu = {name: [r[0] for r in results] for name, results in rows.items()}
                better = min((name for name in cpu if name not in ("assay", "floor")), key=lambda n: statistics.median(cpu[n]))
                middle, low, high = pairs.ratio([a / b for a, b in zip(cpu["assay"], cpu[better])])
                shown = [f"{statistics.median(cpu[n]):.3f} ({min(cpu[n]):.3f}..{max(cpu[n]):.3f})" if n in cpu else "-"
                         for n in ("assay", "redis-benchmark", "memtier", "floor")]
                kops = ", ".join(f"{statistics.median(r[1] for r in results) / 1e3:.0f}" for results in rows.values())
                print(f"| {depth} | {what} | {' | '.join(shown)} | {middle:.2f} [{low:.2f}, {high:.2f}] | {kops} |", flush=True)


BOUND_S, QUANTILE, STEPS = float(os.environ.get("BOUND_MS", 2)) / 1e3, os.environ.get("QUANTILE", "p99"), 10


def trial(assay, server, *settings):
    words = [assay, "run", "redis", "--json", "--monitors", "none", "--blocks", "1"]
    common = (f"server.address=127.0.0.1:{server.port}", f"connections={CONNECTIONS}", f"keys={KEYS}",
              f"sizes=fixed:{VALUE}", "client.cpus=" + str(CLIENT_CPU), "ramp_up=300 ms", "ramp_down=100 ms",
              "steady=1500 ms")
    for setting in common + settings:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True)
    record = json.loads(done.stdout)["records"][0]
    if record["outcome"] != "completed":
        raise SystemExit(f"a trial failed: {record.get('error')}")
    return record


def search(assay, rounds=3):
    print(f"\nHighest rate whose {QUANTILE} stays within {BOUND_S * 1e3:g} ms, kops/s\n")
    print("| round | search | its steps | scan of ten rates | search / scan |\n|---|---|---|---|---|")
    ratios = []
    with Redis() as server:
        for number in range(rounds):
            found = trial(assay, server, "find=max-rate", f"bound={BOUND_S * 1e3:g} ms", "precision=0.03",
                          f"quantile={float(QUANTILE[1:]) / 100}")
            best = next(m["value"] for m in found["metrics"] if m["name"] == "max_rate")
            steps = sum(note.startswith("step ") for note in found["notes"])
            # Ten rates from 25 % below to 25 % above what the search found, in random order of up and down.
            rates = [best * 0.75 * (1.25 / 0.75) ** (i / (STEPS - 1)) for i in range(STEPS)]
            # A rate keeps the bound if two of three runs do.
            keeps = dict.fromkeys(range(STEPS), 0)
            for _ in range(3):
                scanned = trial(assay, server, "find=saturation", "rates=" + " ".join(f"{r:.0f}" for r in rates))
                points = next(c["points"] for c in scanned["curves"] if c["name"] == QUANTILE)
                for rate, time_s in points:
                    nearest = min(keeps, key=lambda i: abs(rates[i] - rate))
                    keeps[nearest] += time_s is not None and time_s <= BOUND_S
            kept = [rates[i] for i, n in keeps.items() if n >= 2]
            if not kept:
                print(f"| {number + 1} | {best / 1e3:.1f} | {steps} | none of the rates kept the bound | |")
                continue
            # The bound is broken between the last rate that kept it and the next: their geometric mean.
            top = max(kept)
            above = min((r for r in rates if r > top * 1.001), default=top)
            edge = math.sqrt(top * above)
            ratios.append(best / edge)
            print(f"| {number + 1} | {best / 1e3:.1f} | {steps} | {edge / 1e3:.1f} | {best / edge:.3f} |", flush=True)
    if len(ratios) > 1:
        middle, low, high = pairs.ratio(ratios)
        print(f"\nsearch / scan: {middle:.3f} [{low:.3f}, {high:.3f}], the scan's own step is {(1.25 / 0.75) ** (1 / 9) - 1:.1%}")


if __name__ == "__main__":
    examples, assay = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    what, numbers = (sys.argv[3], sys.argv[4:]) if len(sys.argv) > 3 else ("all", [])
    if what not in ("all", "peers", "search"):
        raise SystemExit(__doc__)
    if what in ("all", "peers"):
        peers(examples, *[int(n) if i == 0 else float(n) for i, n in enumerate(numbers)])
    if what in ("all", "search"):
        search(assay, *map(int, numbers))

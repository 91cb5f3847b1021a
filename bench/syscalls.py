"""What counting system calls costs: throughput while they are counted over throughput alone, pairs interleaved in
random order, the geometric mean of the ratios with its 95 % interval.

Two loads: `paced` makes about 500,000 calls a second and computes in between; `flat` makes nothing but calls. Each reads
4 KiB from /dev/zero. Of each load the calls a second alone are printed: on a slower machine `paced` makes fewer.
"""

import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

from profile import student

LOAD = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int c, char **v) {
    static char b[4096]; int f = open("/dev/zero", O_RDONLY); long n = 0; double pace = atof(v[2]);
    double began = now(), end = began + atof(v[1]);
    while (now() < end)
        for (int i = 0; i < 64; i++) {
            if (read(f, b, sizeof b) != sizeof b) return 1;
            n++;
            if (pace > 0) { double until = now() + pace; while (now() < until) {} }
        }
    printf("%f\n", n / (now() - began));
}
"""


def main():
    assay, rounds, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    folder = tempfile.mkdtemp(prefix="assay-bench-syscalls-")
    path = os.path.join(folder, "load")
    with open(path + ".c", "w") as file:
        file.write(LOAD)
    subprocess.run(["cc", "-O2", "-w", "-o", path, path + ".c"], check=True)

    def plain(load):
        return float(subprocess.run(load, check=True, capture_output=True, text=True).stdout)

    flat = [path, seconds, "0"]
    each = 1 / plain(flat)
    # What is left of 2 us after the call is computed in.
    loads = {"flat": flat, "paced": [path, seconds, str(max(0.0, 2e-6 - each))]}
    nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def under(command):
        def run(load):
            out = os.path.join(folder, "out")
            subprocess.run([*command, "sh", "-c", 'exec "$@" > ' + out, "sh", *load], check=True, **nothing)
            with open(out) as file:
                return float(file.read())
        return run

    peers = [("assay syscalls", under([assay, "syscalls", "--"]))]
    for program, words in [("strace", ["strace", "-c", "-f", "-o", os.path.join(folder, "counts")]), ("perf", ["perf", "trace", "-s", "-o", os.path.join(folder, "trace")])]:
        if shutil.which(program):
            peers.append((" ".join(words[:3]), under(words)))
        else:
            print(f"skipped: because {program} is not installed")
    asked = [(load, what, run) for load in loads for what, run in peers]
    ratios = {i: [] for i in range(len(asked))}
    base = {name: [] for name in loads}
    for at in range(rounds):
        for i in random.sample(range(len(asked)), len(asked)):
            load, what, run = asked[i]
            try:
                if random.random() < 0.5:
                    without, with_it = plain(loads[load]), run(loads[load])
                else:
                    with_it, without = run(loads[load]), plain(loads[load])
            except (ValueError, subprocess.CalledProcessError) as why:
                print(f"skipped: because {what} failed: {why}", file=sys.stderr)
                continue
            base[load].append(without)
            ratios[i].append(math.log(with_it / without))
        print(f"round {at + 1} of {rounds}", file=sys.stderr)
    for name, values in base.items():
        if values:
            print(f"{name} alone: {sum(values) / len(values):.0f} calls a second (mean of {len(values)})")
    print(f"load average {os.getloadavg()[0]:.1f}; ratio of throughput, with over without, 95 % interval")
    for i, (load, what, _) in enumerate(asked):
        logs = ratios[i]
        if len(logs) < 3:
            print(f"{load:6} {what:16} too few pairs")
            continue
        mean = sum(logs) / len(logs)
        sd = math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
        half = student(len(logs) - 1) * sd / math.sqrt(len(logs))
        low, middle, high = (math.exp(x) for x in (mean - half, mean, mean + half))
        print(f"{load:6} {what:16} {middle:.4f} [{low:.4f}, {high:.4f}] n={len(logs)}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

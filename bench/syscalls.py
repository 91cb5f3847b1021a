"""What counting system calls costs: throughput while they are counted over throughput alone, pairs interleaved in
random order, the geometric mean of the ratios with its 95 % interval.

Two loads: `paced` makes about 500,000 calls a second and computes in between; `flat` makes nothing but calls. Each reads
4 KiB from /dev/zero. Of each load the calls a second alone are printed: on a slower machine `paced` makes fewer.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import pairs

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

    flat = [path, seconds, "0"]
    each = 1 / pairs.plain(flat)
    # What is left of 2 us after the call is computed in.
    loads = {"flat": flat, "paced": [path, seconds, str(max(0.0, 2e-6 - each))]}
    peers = [("assay syscalls", pairs.under([assay, "syscalls", "--"], folder))]
    for program, words in [("strace", ["strace", "-c", "-f", "-o", os.path.join(folder, "counts")]), ("perf", ["perf", "trace", "-s", "-o", os.path.join(folder, "trace")])]:
        if shutil.which(program):
            peers.append((" ".join(words[:3]), pairs.under(words, folder)))
        else:
            print(f"skipped: because {program} is not installed")
    asked = [(load, what, run) for load in loads for what, run in peers]
    pairs.compare(loads, asked, rounds, "calls a second")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

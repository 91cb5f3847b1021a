"""The CPU time of watching 200 sleeping processes (and what else is there) once a second: assay stat --tasks beside pidstat."""

import os
import random
import resource
import shutil
import subprocess
import sys

from pairs import interval


def main():
    assay, rounds, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    tasks = [subprocess.Popen(["sleep", "1000000"]) for _ in range(200)]
    asked = {"assay stat --tasks": [assay, "stat", "--tasks", "-n", seconds]}
    if shutil.which("pidstat"):
        # The same columns: CPU, faults and memory, I/O, switches; idle tasks too.
        asked["pidstat -urdw -p ALL"] = ["pidstat", "-urdw", "-p", "ALL", "1", seconds]
    else:
        print("skipped: because pidstat is not installed")
    used = {what: [] for what in asked}
    there = sum(1 for name in os.listdir("/proc") if name.isdigit())
    try:
        for at in range(rounds):
            for what in random.sample(list(asked), len(asked)):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(asked[what], check=True, stdout=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                used[what].append(100 * cpu / float(seconds))
            print(f"round {at + 1} of {rounds}", file=sys.stderr)
    finally:
        for task in tasks:
            task.kill()
            task.wait()
    print(f"{there} processes, load average {os.getloadavg()[0]:.1f}; % of one CPU, 95 % interval")
    for what, values in used.items():
        mean, low, high = interval(values)
        if len(values) < 3:
            print(f"{what:22} {mean:.2f} (too few rounds for an interval)")
            continue
        print(f"{what:22} {mean:.2f} [{low:.2f}, {high:.2f}] n={len(values)}")


if __name__ == "__main__":
    main()

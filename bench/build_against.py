"""Clean release builds of two revisions in turn: CPU time of the compilers, and the size of the programs. See build.sh."""

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys

from pairs import ratio

_, revision, rounds, work = sys.argv
sides = {"before": os.path.join(work, "before"), "now": os.getcwd()}
subprocess.run(["git", "worktree", "add", "--quiet", "--detach", sides["before"], revision], check=True)
try:
    seconds = {side: [] for side in sides}
    for folder in sides.values():
        subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=folder, check=True)
    for at in range(int(rounds)):
        for side in random.sample(list(sides), 2):
            target = os.path.join(work, "target")
            begun = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                ["cargo", "build", "--quiet", "--locked", "--release", "--package", "assay"],
                cwd=sides[side],
                env={**os.environ, "CARGO_TARGET_DIR": target},
                check=True,
            )
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds[side].append(ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime)
            program = os.path.join(target, "release", "assay")
            size = os.path.getsize(program)
            print(f"round {at + 1}, {side}: {seconds[side][-1]:.0f} s of CPU time, program {size / 1e6:.1f} MB", flush=True)
            if keep := os.environ.get("KEEP"):
                shutil.copy(program, os.path.join(keep, f"assay-{side}"))
            shutil.rmtree(target)
    middle, low, high = ratio([now / before for now, before in zip(seconds["now"], seconds["before"])])
    means = {side: statistics.fmean(values) for side, values in seconds.items()}
    print(f"CPU time, mean: {means['now']:.0f} s now, {means['before']:.0f} s at {revision}")
    print(f"ratio {middle:.3f}, 95 % interval {low:.3f} to {high:.3f}, {rounds} rounds")
finally:
    subprocess.run(["git", "worktree", "remove", "--force", sides["before"]], check=True)

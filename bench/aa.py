"""A/A runs beside a load generator: how often are identical commands called better or worse?

In each round every binary compares a command with itself once by a shell and once without one, in
random order. The two treatments differ in the value of a variable that nothing reads.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile

RUNS, BINARIES = int(sys.argv[1]), [os.path.abspath(b) for b in sys.argv[2:]]
BLOCKS = 10
LOAD = """
import random, time
random.seed({seed})
while True:
    end = time.perf_counter() + random.expovariate(2)
    while time.perf_counter() < end: pass
    time.sleep(random.expovariate(2))
"""


def compared(binary, shell, folder):
    """The one comparison of an A/A run."""
    env = dict(os.environ, ASSAY_ARCHIVE=f"{folder}/archive", ASSAY_STATE=f"{folder}/state", NO_COLOR="1")
    argv = [binary, "run", "--json", "--quiet", "--monitors", "none", "--blocks", str(BLOCKS)]
    argv += ["--set", "controls.env.ASSAY_ARM=a,b"]
    argv += ["--shell", "--", "sleep 0.02; :"] if shell else ["--", "sleep", "0.02"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{' '.join(argv)}: {done.stderr}")
    return json.loads(done.stdout)["analysis"]["comparisons"][0]


def wilson(hits, n, z=1.96):
    p = hits / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [100 * (middle + s * half) / (1 + z * z / n) for s in (-1, 1)]


def main():
    sides = [(b, shell) for b in BINARIES for shell in (True, False)]
    found = {side: [] for side in sides}
    loads = [
        subprocess.Popen([sys.executable, "-c", LOAD.format(seed=n)])
        for n in range(len(os.sched_getaffinity(0)))
    ]
    try:
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(RUNS):
                for side in random.sample(sides, len(sides)):
                    found[side].append(compared(*side, folder))
    finally:
        for load in loads:
            load.kill()
            load.wait()
    for (binary, shell), all_ in found.items():
        false = sum(c["verdict"] in ("better", "worse") for c in all_)
        excludes = sum(not c["interval"]["low"] <= 1 <= c["interval"]["high"] for c in all_ if c["interval"])
        sizes = sorted(abs(math.log(c["ratio"])) for c in all_ if c["ratio"])
        low, high = wilson(excludes, len(all_))
        print(
            f"{binary}, {'by a shell' if shell else 'no shell'}: {false} of {len(all_)} called different; "
            f"the 95 % interval leaves out 1 in {excludes} ({low:.0f} to {high:.0f} %); "
            f"half of the ratios are within {100 * math.expm1(sizes[len(sizes) // 2]):.1f} % of 1, all within {100 * math.expm1(sizes[-1]):.1f} %"
        )


if __name__ == "__main__":
    main()

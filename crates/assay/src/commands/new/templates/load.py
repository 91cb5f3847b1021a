"""A load that reports to assay on file descriptor 3."""

import json
import os
import sys
import time

report = os.fdopen(3, "w", buffering=1)


def say(**line):
    print(json.dumps(line), file=report)


steady = float(sys.argv[1])
say(phase="ramp-up")
sum(range(100_000))
say(phase="steady")
begin, done = time.monotonic(), 0
while time.monotonic() - begin < steady:
    for _ in range(1000):
        done += 1
elapsed = time.monotonic() - begin
say(phase="ramp-down")
say(metric="throughput", value=done / elapsed, unit="ops/s", better="higher")
# A result that is wrong voids the trial.
say(valid=done > 0, detail=f"{done} additions")

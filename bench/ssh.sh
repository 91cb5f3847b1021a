#!/usr/bin/env bash
# Trials on hosts by SSH: four sshd in network namespaces of this machine, in turn with trials here. Prints the time from
# the order of a trial to its common start on four hosts, and how much longer a trial on one host takes than here.
# Usage: bench/ssh.sh [ROUNDS]     ASSAY names the binary; without it a release build is made. Needs root, openssh-server.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
rounds="${1:-10}"
work="$(mktemp -d)"
scripts/virtual-hosts start "$work/hosts" 4
trap 'scripts/virtual-hosts stop "$work/hosts"; rm -rf "$work"' EXIT
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state" PATH="$work/hosts/bin:$PATH"
run() { "$ASSAY" run --json --quiet --blocks 30 --warmup 0 --monitors none "${@:2}" -- true > "$work/$1.$round.json"; }
for round in $(seq "$rounds"); do
  run here
  run host --host h1
  run together --host h1 --host h2 --host h3 --host h4 --hosts-as together
done
python3 - "$work" "$rounds" <<'PY'
import glob, json, math, statistics, sys
work, rounds = sys.argv[1], int(sys.argv[2])
T = {5: 2.571, 9: 2.262, 19: 2.093}
def between(kind, r):
    """Median time from the start of a trial to that of the next, ms."""
    records = json.load(open(f"{work}/{kind}.{r}.json"))["records"]
    starts = [x["start_ns"] for x in records if x["outcome"] == "completed"]
    return statistics.median(b - a for a, b in zip(starts, starts[1:])) / 1e6
def shown(name, values):
    half = T.get(len(values) - 1, 2.1) * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.mean(values)
    print(f"{name}: {mean:.2f} ms [{mean - half:.2f}, {mean + half:.2f}], {len(values)} rounds")
here = [between("here", r) for r in range(1, rounds + 1)]
host = [between("host", r) for r in range(1, rounds + 1)]
shown("a trial here", here)
shown("a trial on a host", host)
shown("difference", [b - a for a, b in zip(here, host)])
starts, spreads = [], []
for path in glob.glob(f"{work}/archive/runs/*/trials/*/nodes.json"):
    file = json.load(open(path))
    if len(file["nodes"]) != 4:
        continue
    slowest = max(2 * n["clock"]["before"]["error_ns"] for n in file["nodes"])
    # The lead of the common start, as the collector computes it.
    lead = 10e6 + 4 * slowest + 0.2e6 * len(file["nodes"])
    starts.append((file["took"]["barrier_ns"] + lead) / 1e6)
    at = [n["start_ns"] for n in file["nodes"]]
    spreads.append((max(at) - min(at)) / 1e6)
starts.sort(), spreads.sort()
p = lambda v, q: v[min(len(v) - 1, int(q * len(v)))]
print(f"from the order to the common start on 4 hosts: median {p(starts, .5):.1f} ms, 99 % {p(starts, .99):.1f} ms, {len(starts)} trials")
print(f"spread of the programs' starts: median {p(spreads, .5):.2f} ms, 99 % {p(spreads, .99):.2f} ms")
PY

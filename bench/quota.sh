#!/usr/bin/env bash
# The share of CPU-quota periods in which a trial was throttled, beside the kernel's own counters of the group over the
# whole command, at several quotas. Needs root and control groups of version 1 or 2.
# Usage: bench/quota.sh [SECONDS]     ASSAY names the binary; without it a release build is made.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
seconds="${1:-20}"
work="$(mktemp -d)"
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state"
top=/sys/fs/cgroup
[ ! -d $top/cpu ] || top=$top/cpu
group="$top/assay-bench-$$"
mkdir "$group" 2> "$work/why" || { echo "no control group can be made: $(cat "$work/why")" >&2; exit 2; }
trap 'rmdir "$group"; rm -rf "$work"' EXIT
counts() { awk '$1 == "nr_periods" { p = $2 } $1 == "nr_throttled" { t = $2 } END { print p + 0, t + 0 }' "$group/cpu.stat"; }
for quota in 90 70 50 30 20; do
  if [ -e "$group/cpu.max" ]; then echo "$((quota * 1000)) 100000" > "$group/cpu.max"
  else echo $((quota * 1000)) > "$group/cpu.cfs_quota_us"; fi
  read -r periods throttled <<< "$(counts)"
  # The trial is most of the command's time; the rest of assay is in the same group.
  sh -c 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"' - "$group" "$ASSAY" run --json --quiet --blocks 1 --warmup 0 \
    --monitors none --ignore-failure -- timeout "$seconds" sh -c 'while :; do :; done' > "$work/answer" 2> "$work/stderr" || true
  read -r periods_after throttled_after <<< "$(counts)"
  QUOTA=$quota KERNEL="$((throttled_after - throttled)) $((periods_after - periods))" python3 - "$work/answer" <<'PY'
import json, os, sys
record = json.load(open(sys.argv[1]))["records"][0]
seen = [e for e in record["evidence"] if e["saw"] == "limited"]
throttled, periods = map(int, os.environ["KERNEL"].split())
kernel = 100 * throttled / max(periods, 1)
if not seen:
    print(f"quota {os.environ['QUOTA']} %: no observation; the kernel: {kernel:.1f} %")
else:
    own = 100 * seen[0]["stopped"] / max(seen[0]["periods"], 1)
    print(f"quota {os.environ['QUOTA']} %: trial {own:.1f} % of {seen[0]['periods']} periods, kernel {kernel:.1f} % of {periods}; {own - kernel:+.1f} points")
PY
done

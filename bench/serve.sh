#!/usr/bin/env bash
# The server beside a live run: what it costs the machine with nobody and with one who watches, and how
# many viewers get every event and how late; then an archive of 10,000 runs.
#   bench/serve.sh [VIEWERS] [SECONDS] [ARCHIVE_OF_MANY_RUNS]
# The third is a folder with an archive; `bench/archive.sh --keep DIR` makes one of 10,000 runs. Without it
# that part is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
viewers=${1:-200}; seconds=${2:-60}; many=${3:-}
profile=${PROFILE:-release}
cargo build --profile "${profile/debug/dev}" --locked --quiet --package assay
cargo build --profile "${profile/debug/dev}" --locked --quiet --package assay-server --example viewers
target=${CARGO_TARGET_DIR:-target}/$profile
folder=$(mktemp -d); server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
export ASSAY_STATE=$folder/state ASSAY_ARCHIVE=${many:-$folder/archive} ASSAY_SCRATCH=$folder/scratch
mkdir -p "$folder"/{state,scratch,experiments}
# Ten notes a second, each with the time at which it was sent.
mkdir "$folder/experiments/notes"
cat > "$folder/experiments/notes/kit.toml" <<TOML
name = "notes"
version = "1"
help = "says ten times a second what time it is"
[[need]]
program = "python3"
package = "python3"
[run]
command = ["python3", "$folder/notes.py", "$((seconds * 3 + 40))"]
protocol = true
[[metric]]
name = "elapsed"
unit = "s"
better = "lower"
help = "wall time"
from = "elapsed"
TOML
cat > "$folder/notes.py" <<'PY'
import json, os, sys, time
for _ in range(int(sys.argv[1]) * 10):
    os.write(3, (json.dumps({"note": f"t={time.monotonic_ns()}"}) + "\n").encode())
    time.sleep(0.1)
PY
cat > "$folder/experiments/notes.toml" <<TOML
name = "notes"
workload = "./notes"
[design]
blocks = 1
timeout = "1 h"
TOML
"$target/assay" serve "$folder/experiments" --listen 127.0.0.1:0 --rate 100000 > "$folder/out" &
server=$!
for _ in $(seq 100); do [ -s "$folder/state/serve.address" ] && break; sleep 0.1; done
address=$(cat "$folder/state/serve.address"); ASSAY_TOKEN=$(cat "$folder/state/serve.token"); export ASSAY_TOKEN
"$target/assay" submit notes
for _ in $(seq 100); do
    curl -sf -o /dev/null -H "Authorization: Bearer $ASSAY_TOKEN" "http://$address/api/v1/jobs/1/live" && break; sleep 0.1
done
sleep 2
ticks() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
cost() { # cost NAME COMMAND...: the server's CPU time while the command runs
    local name=$1; shift
    local before began; before=$(ticks); began=$(date +%s%N)
    "$@"
    awk -v t=$(($(ticks) - before)) -v ns=$(($(date +%s%N) - began)) -v hz="$(getconf CLK_TCK)" -v name="$name" \
        'BEGIN { printf "%s: the server used %.2f %% of a core\n", name, 100 * t / hz / (ns / 1e9) }'
}
cost "nobody watches" sleep "$seconds"
cost "one watches" "$target/examples/viewers" "$address" 1 1 "$seconds"
cost "$viewers watch" "$target/examples/viewers" "$address" 1 "$viewers" "$seconds"
if [ -n "$many" ]; then
    for path in "archive" "archive?page=100" "archive?text=a&sort=least" "api/v1/runs?limit=500"; do
        for _ in 1 2 3 4 5; do
            curl -s -o /dev/null -w '%{time_total}\n' -H "Authorization: Bearer $ASSAY_TOKEN" "http://$address/$path"
        done | sort -n | sed -n 3p | xargs printf '%s: median of 5 requests %s s\n' "$path"
    done
fi

#!/usr/bin/env bash
# People who browse a server while somebody holds a thousand connections that never finish a request, and
# without, in rounds that alternate.
#   bench/serve-slow.sh [PEOPLE] [SLOW] [ROUNDS] [SECONDS]
# ASSAY=PATH measures another binary (an earlier version), which needs no build.
set -euo pipefail
cd "$(dirname "$0")/.."
people=${1:-20}; slow=${2:-1000}; rounds=${3:-6}; seconds=${4:-10}
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY=${CARGO_TARGET_DIR:-target}/release/assay
fi
ulimit -n "$(ulimit -Hn)"
folder=$(mktemp -d); server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
export ASSAY_STATE=$folder/state ASSAY_ARCHIVE=$folder/archive ASSAY_SCRATCH=$folder/scratch NO_COLOR=1
mkdir -p "$folder"/{state,scratch,experiments}
for _ in 1 2; do "$ASSAY" run --blocks 6 --vs 'sh -c true' -- sh -c : > /dev/null 2>&1; done
mapfile -t runs < <(ls "$folder/archive/runs")
"$ASSAY" serve "$folder/experiments" --listen 127.0.0.1:0 > "$folder/out" &
server=$!
for _ in $(seq 100); do [ -s "$folder/state/serve.address" ] && break; sleep 0.1; done
address=$(cat "$folder/state/serve.address"); ASSAY_TOKEN=$(cat "$folder/state/serve.token"); export ASSAY_TOKEN
python3 bench/slow-clients.py "$address" "$people" "$slow" "$rounds" "$seconds" \
    /queue /archive /observe /landscapes "/runs/${runs[0]}" "/compare?runs=${runs[0]},${runs[1]}"

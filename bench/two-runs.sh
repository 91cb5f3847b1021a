#!/usr/bin/env bash
# Pairs of runs of one command, minutes apart: how often `assay compare` calls them different. Single runs, and three
# runs a side. Commands that sleep, compute and write; every other pair beside a busy loop.
# Usage: bench/two-runs.sh [PAIRS]      ASSAY names a binary; else a release build is made.
set -euo pipefail
pairs=${1:-200}
. "$(dirname "$0")/prologue.sh"
export ASSAY_ARCHIVE=$folder/archive NO_COLOR=1
commands=("sleep 0.02" "sh -c 'i=0; while [ \$i -lt 20000 ]; do i=\$((i+1)); done'" "dd if=/dev/zero of=$folder/out bs=64k count=64 conv=fsync")
run() { # COMMAND: the id of a run of it
    "$assay" run --quiet --json --shell sh --blocks 6 --monitors none -- "$1" | sed -n 's/^    "id": "\(.*\)",$/\1/p' | head -n 1
}
load=""
trap '[ -z "$load" ] || kill "$load"; rm -rf "$folder"' EXIT
declare -A seen=()
count() { # FORM SIDES...
    local verdict
    verdict=$("$assay" compare --json "${@:2}" 2>/dev/null | grep -o '"verdict": "[a-z -]*"' | tail -n 1 | cut -d '"' -f 4) || true
    seen["$1 ${verdict:-none}"]=$((${seen["$1 ${verdict:-none}"]:-0} + 1))
}
for ((pair = 0; pair < pairs; pair++)); do
    if ((pair % 2)); then (while :; do :; done) & load=$!; fi
    command=${commands[$((pair / 2 % 3))]}
    a=$(run "$command")
    b=$(run "$command")
    count single "$a" "$b"
    if ((pair % 8 < 2)); then
        # A B B A A B: a drift of the machine favours neither side.
        b+=,$(run "$command")
        a+=,$(run "$command"),$(run "$command")
        b+=,$(run "$command")
        count three "$a" "$b"
    fi
    if [ -n "$load" ]; then kill "$load"; wait "$load" 2>/dev/null || true; load=""; fi
done
for key in "${!seen[@]}"; do echo "$key: ${seen[$key]}"; done | sort

#!/usr/bin/env bash
# Publishing a run of 200 trials with two builds of assay, interleaved: does a change cost publication anything?
# Usage: bench/publish.sh BEFORE_BINARY [BLOCKS]
# AFTER names the other binary; without it, it is built from this tree. AFTER_OPTIONS goes to its `publish`: `--no-redact`
# for the work of a version that did not redact.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: bench/publish.sh BEFORE_BINARY [BLOCKS]" >&2; exit 2; }
before="$(realpath "$1")"
after="${AFTER:+$(realpath "$AFTER")}"
cd "$(dirname "$0")/.."
[ -n "$after" ] || cargo build --release --locked --quiet --package assay
after="${after:-$(realpath "${CARGO_TARGET_DIR:-target}/release/assay")}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
# Each build publishes a run that it made itself: what it records is part of what it has to read.
for side in before after; do
  "${!side}" run --archive "$folder/$side" --quiet --blocks 100 --vs "sleep 0.001" -- true > /dev/null 2>&1
done
publish() { echo "sh -c 'rm -rf $folder/page-$1; exec ${!1} publish last ${AFTER_OPTIONS:-} --archive $folder/$1 -o $folder/page-$1'"; }
"$after" run --archive "$folder/times" --blocks "${2:-20}" --vs "$(publish after)" -- sh -c "rm -rf $folder/page-before; exec $before publish last --archive $folder/before -o $folder/page-before"

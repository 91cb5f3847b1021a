#!/usr/bin/env bash
# What building takes: a release build from clean, `cargo build -p assay --no-default-features`, the same as a release, and
# what each dependency has of it (`cargo build --timings`); the size of the program. Sources are fetched before. Three
# times some minutes on two cores.
# Usage: bench/build.sh [ROWS]      how many crates are listed; BUILDS="default dev-none none" chooses the builds,
#                                  KEEP=DIR keeps the programs there
#        AGAINST=REVISION bench/build.sh [ROUNDS]   CPU time of clean release builds beside those of a revision, in turn;
#                                  KEEP as above
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fetch --locked --quiet
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
[ -z "${AGAINST:-}" ] || { python3 bench/build_against.py "$AGAINST" "${1:-3}" "$work"; exit; }
for build in ${BUILDS:-default dev-none none}; do
    flags=() profile=debug
    [[ "$build" = dev-* ]] || flags=(--release) profile=release
    [[ "$build" = *none ]] && flags+=(--no-default-features)
    export CARGO_TARGET_DIR="$work/$build"
    begin="$(date +%s.%N)"
    cargo build --locked --quiet --package assay --timings "${flags[@]}"
    end="$(date +%s.%N)"
    printf '\n%s: %.0f s on %s CPUs, load average %s, program %.1f MB\n' "$build" \
        "$(awk "BEGIN { print $end - $begin }")" "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg)" \
        "$(stat -c %s "$CARGO_TARGET_DIR/$profile/assay" | awk '{ print $1 / 1e6 }')"
    python3 - "$CARGO_TARGET_DIR/cargo-timings/cargo-timing.html" "${1:-25}" <<'P'
import json, re, sys

text = open(sys.argv[1]).read()
units = json.loads(re.search(r"UNIT_DATA\s*=\s*(\[.*?\]);\s*\n", text, re.S)[1])
crates = {}
for unit in units:
    crates[unit["name"]] = crates.get(unit["name"], 0.0) + unit["duration"]
whole = sum(crates.values())
ours = sum(seconds for name, seconds in crates.items() if name.startswith("assay"))
print(f"{len(crates)} crates, {whole:.0f} s of compilers' time: {ours:.0f} s are assay's own")
for name, seconds in sorted(crates.items(), key=lambda c: -c[1])[: int(sys.argv[2])]:
    print(f"{seconds:7.1f} s {100 * seconds / whole:5.1f} %  {name}")
P
    [ -z "${KEEP:-}" ] || cp "$CARGO_TARGET_DIR/$profile/assay" "$KEEP/assay-$build"
    rm -rf "$CARGO_TARGET_DIR"
done

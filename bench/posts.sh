#!/usr/bin/env bash
# A post with many computed numbers: wall time of the whole command, which reads the template and the
# results, computes, checks, and writes every form. Usage: bench/posts.sh [NUMBERS [REPEATS]]
set -euo pipefail
numbers=${1:-100} repeats=${2:-15}
. "$(dirname "$0")/prologue.sh"
{
  printf '+++\ntitle = "Many numbers"\nas_of = "2009-08-27"\nlandscape = "specjbb2005-t5240"\n+++\n\n'
  for ((i = 0; i < numbers; i += 5)); do
    echo "- {{ value(\"t5240-1.6\") }}, {{ better(\"t5240-1.6\", than=\"p570-4chip\", digits=$((i / 5 % 9))) }},"
    echo "  {{ times(\"t5240-1.6\", than=\"p570-4chip\", per=\"core\") }}, {{ rank(\"t5240-1.6\") }},"
    echo "  {{ value(mean(\"trap-s9-*-total-tim\"), digits=2) }}"
  done
  printf '\n{{ landscape("specjbb2005") }}\n\n{{ chart("bars", landscape="specjbb2005") }}\n'
} > "$folder/many.md"
python3 - "$repeats" "$assay" publish "$folder/many.md" --force -o "$folder/out" <<'PY'
import json, statistics, subprocess, sys, time
repeats, command = int(sys.argv[1]), sys.argv[2:]
times = []
for _ in range(repeats):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    times.append((time.perf_counter() - start) * 1e3)
numbers = len(json.load(open(command[-1] + "/post.json"))["numbers"])
print(f"{numbers} numbers: min {min(times):.0f} ms, median {statistics.median(times):.0f} ms of {repeats}")
PY

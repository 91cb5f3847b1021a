#!/usr/bin/env bash
# A landscape over many results: wall time of the whole command, which reads, checks, dates, ranks and
# prints. Usage: bench/landscape.sh [ROWS [REPEATS]]
set -euo pipefail
rows=${1:-100000} repeats=${2:-15}
. "$(dirname "$0")/prologue.sh"
mkdir "$folder/results"
awk -v n="$rows" 'BEGIN {
  srand(1)
  print "id,source,benchmark,metric,unit,higher_is_better,system,vendor,chips,cores,threads,ghz,processor,memory_gb,rack_units,watts,os,compiler_or_jvm,config_note,value,value_per_jvm,as_of_date"
  for (i = 1; i <= n; i++) {
    chips = 2 ^ int(rand() * 4); cores = chips * (2 + int(rand() * 30)); year = 2000 + int(rand() * 26)
    value = int(cores * (20000 + rand() * 40000))
    printf "r%d,made-up,order processing,throughput,ops/s,true,System %d,Vendor %d,%d,%d,%d,%.2f,Processor %d,%d,%d,%s,System %d,Compiler %d,made-up row %d,%d,,%d-%02d-%02d\n", \
      i, i % 5000, i % 40, chips, cores, cores * 2, 1 + rand() * 3, i % 300, chips * 64, chips, \
      (rand() < 0.5 ? int(chips * 150 + rand() * 500) : ""), i % 12, i % 20, i, value, year, 1 + int(rand() * 12), 1 + int(rand() * 28)
  }
}' > "$folder/results/big.csv"
measure() {
  python3 - "$repeats" "$@" <<'PY'
import statistics, subprocess, sys, time
repeats, command = int(sys.argv[1]), sys.argv[2:]
times = []
for _ in range(repeats):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    times.append((time.perf_counter() - start) * 1e3)
print(f"min {min(times):.0f} ms, median {statistics.median(times):.0f} ms of {repeats}: assay " + " ".join(command[1:2] + command[4:]))
PY
}
echo "$rows rows, $(wc -c < "$folder/results/big.csv") bytes"
measure "$assay" landscape --published "$folder/results" big
measure "$assay" landscape --published "$folder/results" big --as-of 2015-06-30
measure "$assay" landscape --published "$folder/results" big --per watt
measure "$assay" landscape --published "$folder/results" big --csv

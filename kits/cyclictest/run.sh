#!/bin/sh
# Runs cyclictest, beside hackbench if there are groups, and reports percentiles over all threads.
set -e
threads=$1 interval=$2 priority=$3 groups=$4 seconds=$5
policy="--policy=other --default-system"
[ "$priority" = 0 ] || policy="-p $priority -m"
if [ "$groups" != 0 ]; then
    hackbench -g "$groups" -l 1000000000 > /dev/null 2>&1 &
    load=$!
    trap 'kill -TERM $load 2> /dev/null; wait $load 2> /dev/null || :' EXIT
    sleep 0.5
fi
echo '{"phase":"steady"}' >&3
cyclictest -q -t "$threads" -i "$interval" -D "$seconds" $policy -h 100000 > histogram 2> cyclictest.log || { cat cyclictest.log >&2; exit 1; }
[ -z "$load" ] || kill -0 "$load" 2> /dev/null || { echo "hackbench ended early" >&2; exit 1; }
echo '{"phase":"ramp-down"}' >&3
# A row has a delay in µs and the wakeups of each thread; overflows and maxima follow.
awk '
/^[0-9]/ { for (i = 2; i <= NF; i++) count[$1 + 0] += $i; delays = $1 + 0 }
/^# Histogram Overflows:/ { for (i = 4; i <= NF; i++) over += $i }
/^# Max Latencies:/ { for (i = 4; i <= NF; i++) if ($i + 0 > max) max = $i + 0 }
function percentile(name, share,    d, seen) {
    for (d = 0; d <= delays; d++) {
        seen += count[d]
        if (seen >= share * all) {
            printf "{\"metric\":\"%s\",\"value\":%.6f,\"unit\":\"s\",\"better\":\"lower\"}\n", name, d * 1e-6
            return
        }
    }
    printf "{\"note\":\"%s is above %d µs, the end of the histogram\"}\n", name, delays
}
END {
    for (d in count) all += count[d]
    all += over
    if (all == 0) exit 1
    percentile("latency_p50", 0.5)
    percentile("latency_p99", 0.99)
    percentile("latency_p99_9", 0.999)
    printf "{\"metric\":\"latency_max\",\"value\":%.6f,\"unit\":\"s\",\"better\":\"lower\"}\n", max * 1e-6
    printf "{\"metric\":\"wakeups\",\"value\":%d,\"unit\":\"1\",\"better\":\"neither\"}\n", all
}' histogram >&3

#!/bin/sh
# Starts a server on a copy of the cluster, runs pgbench against it, and stops it. Reports phases,
# throughput over time and checkpoints on descriptor 3.
set -e
bin=$1 from=$2 script=$3 clients=$4 seconds=$5 settings=$6
cd "${ASSAY_STORAGE:-.}"
cp -a --reflink=auto "$from" cluster
mkdir sock
as=""
if [ "$(id -u)" = 0 ]; then
    chown postgres sock
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
options="-k $PWD/sock -c listen_addresses= -c log_checkpoints=on -c log_line_prefix=%n:"
for setting in $settings; do options="$options -c $setting"; done
$as "$bin/postgres" -D cluster $options > run.log 2>&1 &
server=$!
stop() { kill -INT $server 2> /dev/null && wait $server || :; }
trap stop EXIT
until pg_isready -q -h "$PWD/sock"; do
    kill -0 $server 2> /dev/null || { cat run.log >&2; exit 1; }
    sleep 0.05
done
echo '{"phase":"steady"}' >&3
from=$(cut -d' ' -f1 /proc/uptime) epoch=$(date +%s.%N)
pgbench -h "$PWD/sock" -U bench -b "$script" -c "$clients" -j "$clients" -T "$seconds" -P 1 -n postgres 2> progress.log || { cat progress.log >&2; exit 1; }
echo '{"phase":"ramp-down"}' >&3
# Every script adds the same amount to an account and to the history.
sums=$(psql -h "$PWD/sock" -U bench -A -t -c 'SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)' postgres)
[ "${sums%|*}" = "${sums#*|}" ] && valid=true || valid=false
echo "{\"valid\":$valid,\"detail\":\"accounts and history add up to ${sums%|*} and ${sums#*|}\"}" >&3
awk -v from="$from" '/^progress: / {
    printf "{\"sample\":\"throughput\",\"t_ns\":%.0f,\"value\":%s,\"unit\":\"transactions/s\"}\n", (from + $2) * 1e9, $4
}' progress.log >&3
awk -F: -v epoch="$epoch" '
$0 ~ /checkpoint starting/ && $1 >= epoch { begun = $1; why = $NF; open = 1 }
$0 ~ /checkpoint complete/ && open {
    match($0, /sync=[0-9.]+/); sync = substr($0, RSTART + 5, RLENGTH - 5); open = 0; n++; synced += sync
    printf "{\"note\":\"checkpoint (%s) %.1f to %.1f s after the start, of which %s s to sync\"}\n", substr(why, 2), begun - epoch, $1 - epoch, sync
}
END {
    if (open) printf "{\"note\":\"checkpoint (%s) %.1f s after the start, not complete at the end\"}\n", substr(why, 2), begun - epoch
    printf "{\"metric\":\"checkpoints\",\"value\":%d,\"unit\":\"1\",\"better\":\"neither\"}\n", n
    printf "{\"metric\":\"checkpoint_sync_time\",\"value\":%.3f,\"unit\":\"s\",\"better\":\"lower\"}\n", synced
}' run.log >&3

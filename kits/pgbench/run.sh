#!/bin/sh
# Starts a server on a copy of the cluster, runs pgbench against it, and stops it.
set -e
bin=$1 from=$2 script=$3 clients=$4 seconds=$5 settings=$6
cp -a --reflink=auto "$from" cluster
mkdir sock
as=""
if [ "$(id -u)" = 0 ]; then
    chown postgres sock
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
options="-k $PWD/sock -c listen_addresses=''"
for setting in $settings; do options="$options -c $setting"; done
$as "$bin/pg_ctl" -D cluster -w -l "$PWD/cluster/run.log" -o "$options" start > start.log || { cat start.log cluster/run.log >&2; exit 1; }
trap '$as "$bin/pg_ctl" -D cluster -m fast -w stop > /dev/null' EXIT
pgbench -h "$PWD/sock" -U bench -b "$script" -c "$clients" -j "$clients" -T "$seconds" -n postgres

#!/bin/sh
# Makes a cluster with the tables of pgbench, in ./cluster. PostgreSQL does not run as root.
set -e
bin=$1 scale=$2
rm -rf cluster sock
mkdir cluster sock
as=""
if [ "$(id -u)" = 0 ]; then
    chown postgres cluster sock
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
$as "$bin/initdb" -D cluster -U bench -A trust --no-locale -E UTF8 > initdb.log
$as "$bin/pg_ctl" -D cluster -w -l "$PWD/cluster/load.log" -o "-k $PWD/sock -c listen_addresses='' -c fsync=off" start > /dev/null
trap '$as "$bin/pg_ctl" -D cluster -m fast -w stop > /dev/null' EXIT
pgbench -h "$PWD/sock" -U bench -i -q -s "$scale" postgres > pgbench.log 2>&1 || { cat pgbench.log >&2; exit 1; }

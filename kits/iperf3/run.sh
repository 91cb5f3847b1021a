#!/bin/sh
# A server for one client on the loopback interface, and the client.
iperf3 --server --one-off --bind 127.0.0.1 --port "$1" > server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
for _ in $(seq 100); do
    grep -q listening server.log && break
    kill -0 $server 2>/dev/null || { cat server.log >&2; exit 1; }
    sleep 0.05
done
iperf3 --client 127.0.0.1 --port "$1" --parallel "$2" --time "$3" --json

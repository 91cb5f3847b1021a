#!/bin/sh
# A server for one client over the loopback interface or a veth pair, or the user's own server, and the client.
# The network namespace of the server has no name: it and its end of the pair go with the processes in it.
set -e
port=$1 streams=$2 seconds=$3 link=$4 address=$5 mtu=$6
server=''
if [ -z "$address" ]; then
    address=127.0.0.1 inside=''
    if [ "$link" = veth ]; then
        address=198.18.0.2
        unshare --net sleep infinity &
        space=$!
        trap 'kill $server $space 2>/dev/null || :; wait' EXIT
        inside="nsenter --target $space --net"
        until [ "$(readlink /proc/$space/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do
            kill -0 $space || { echo "a network namespace needs root" >&2; exit 1; }
            sleep 0.01
        done
        ip link add "iperf$$" mtu "$mtu" type veth peer name eth0 mtu "$mtu" netns "$space"
        ip address add 198.18.0.1/30 dev "iperf$$"
        ip link set "iperf$$" up
        $inside ip address add "$address/30" dev eth0
        $inside ip link set eth0 up
    else
        trap 'kill $server 2>/dev/null || :; wait' EXIT
    fi
    $inside iperf3 --server --one-off --bind "$address" --port "$port" --forceflush > server.log 2>&1 &
    server=$!
    for _ in $(seq 100); do
        grep -q listening server.log && break
        kill -0 $server 2>/dev/null || { cat server.log >&2; exit 1; }
        sleep 0.05
    done
fi
iperf3 --client "$address" --port "$port" --parallel "$streams" --time "$seconds" --json

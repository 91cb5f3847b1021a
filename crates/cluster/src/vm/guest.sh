#!/bin/sh
# The agent of assay in a virtual machine, with its output on the second serial line; then it ends the machine.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb
say() { echo "assay-vm: $*"; }
disk() { # SERIAL
    for one in /sys/block/vd*; do
        [ "$(cat "$one/serial" 2>/dev/null)" = "$1" ] && echo "/dev/${one##*/}"
    done
}
modprobe -q virtio_net
modprobe -q -a loop zram
nic=''
for _ in $(seq 300); do
    nic="$(ls /sys/class/net 2>/dev/null | grep -v '^lo$' | head -n 1)"
    [ -n "$nic" ] && break
    sleep 0.1
done
[ -n "$nic" ] || say "there is no network: the image has no module for it"
ip link set lo up
ip addr add 10.0.2.15/24 dev "$nic"
ip link set "$nic" up
ip route add default via 10.0.2.2
echo 'nameserver 10.0.2.3' >/etc/resolv.conf
# Whom the agent talks to stands on a disk of its own: a command line could be read by everybody.
set -a
ASSAY_KITS=/payload/kits
eval "$(head -c 4096 "$(disk assay-agent)")"
set +a
say 'the agent starts'
cd /root && /payload/bin/assay __agent
say "done $?"
systemctl --force --force poweroff

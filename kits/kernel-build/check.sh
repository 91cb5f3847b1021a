#!/bin/sh
# Compares vmlinux with the one of the first trial of this configuration and compiler.
first=$1/$(printf %s "$2-$3" | tr -c 'a-zA-Z0-9.-' _)
sum=$(sha256sum < out/vmlinux)
[ -s "$first" ] || echo "$sum" > "$first"
[ "$sum" = "$(cat "$first")" ] || { echo "vmlinux differs from the one of the first trial" >&2; exit 1; }

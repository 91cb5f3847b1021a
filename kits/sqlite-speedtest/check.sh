#!/bin/sh
# Compares the hash over all results with the expected one of this size, or with the first trial's.
kit=$1 size=$2 first=$3/hash-$2
hash=$(sed -n 's/^Verification Hash: //p' speedtest.out)
expected=$(awk -v size="$size" '$1 == size { print $2, $3 }' "$kit/expected")
[ -n "$expected" ] || { [ -s "$first" ] || echo "$hash" > "$first"; expected=$(cat "$first"); }
[ "$hash" = "$expected" ] || { echo "the hash over all results is $hash, not $expected" >&2; exit 1; }

#!/bin/sh
# Stands for a tool that prints results: times two loops and prints microseconds.
measure() {
    begin=$(date +%s%N)
    i=0
    while [ $i -lt "$2" ]; do i=$((i + 1)); done
    end=$(date +%s%N)
    awk -v name="$1" -v ns=$((end - begin)) -v n="$2" 'BEGIN { printf "%s: %.4f us/op\n", name, ns / 1000 / n }'
}
measure short 20000
measure long 60000
echo "total 80000 operations"

#!/bin/sh
# Writes numbers in an order that is the same every time.
awk -v n="$1" 'BEGIN { srand(1); for (i = 0; i < n; i++) print int(rand() * 1e9) }' > numbers

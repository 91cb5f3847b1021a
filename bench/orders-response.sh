#!/usr/bin/env bash
# The workload orders at a rate: the highest rate that the search finds beside an open-loop scan of ten rates, 5 % apart
# and in random order, each in virtual machines of their own; the scan's answer is the highest rate up to which all kept
# the limit, and a rate breaks it by the rule of the search. Both take turns. Prints the ratio of search and scan with a
# 95 % interval (t, on logs), and the steps and seconds of each. Needs a JDK.
# Usage: bench/orders-response.sh [ROUNDS [LIMIT]]                               (default: 3 'p99<=50ms')
set -euo pipefail
cd "$(dirname "$0")/.."
exec bench/orders.sh response "$@"

#!/usr/bin/env bash
# The buffer-size sweep against fresh measurements: how far its curve lies from 200 random sizes that it did
# not visit, and its optimum from the best of an exhaustive run at 4,096 sizes.
# Usage: bench/block-size.sh [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --release --locked --quiet --package assay-workloads --example sweep_accuracy -- "${1:-1}"

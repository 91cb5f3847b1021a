#!/usr/bin/env bash
# An archive of 10,000 runs: what keeping a trial costs, and how long list and show take.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --release --locked --quiet --package assay-archive --example ten_thousand -- "$@"

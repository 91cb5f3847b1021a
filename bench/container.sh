#!/usr/bin/env bash
# Own time of a trial in a container beside `podman run` of the same image, and the CPU time of a program in it beside none.
# Usage: bench/container.sh [ROUNDS] [TRIALS]; needs podman and mmdebstrap. RUNTIME=runc where crun cannot start.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet --package assay
folder="$(mktemp -d)"
image=localhost/assay-bench
trap 'podman rmi --force "$image" >/dev/null 2>&1; rm -rf "$folder"' EXIT
printf '[engine]\nruntime = "%s"\n' "${RUNTIME:-crun}" >"$folder/containers.conf"
export CONTAINERS_CONF="$folder/containers.conf" ASSAY_ARCHIVE="$folder/archive" ASSAY_STATE="$folder/state" NO_COLOR=1
mmdebstrap --quiet --variant=essential bookworm "$folder/root.tar"
podman import --quiet "$folder/root.tar" "$image" >/dev/null
python3 bench/container.py "${CARGO_TARGET_DIR:-target}/release/assay" "$image" "${1:-10}" "${2:-20}"

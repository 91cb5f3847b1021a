# Sourced by scripts that time whole commands: `assay` is the binary (ASSAY names one; else a release build is made)
# and `folder` one that goes with the script, with the state of assay in it.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
assay=${ASSAY:-}
if [ -z "$assay" ]; then
  cargo build --release --locked --quiet --package assay
  assay=${CARGO_TARGET_DIR:-target}/release/assay
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/state"
export ASSAY_STATE=$folder/state

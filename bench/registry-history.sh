#!/usr/bin/env bash
# The history of a crate over its releases: a repository is made with a commit for each version, which a small program
# uses, and `assay history` builds and measures them beside the first, confirms what it suspects, and writes a page.
# Usage: bench/registry-history.sh [DIR]      DIR gets the repository, the archive and the page; needs a crates registry
#   ASSAY names the binary; without it a release build is made.
#   METRIC=user BLOCKS=6 BUDGET="30 min"
set -euo pipefail
out="$(realpath -m "${1:-registry-history}")"
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
mkdir -p "$out/repo/src"
export ASSAY_ARCHIVE="$out/archive" ASSAY_CACHE="$out/cache" ASSAY_STATE="$out/state"
cd "$out/repo"
if [ ! -d .git ]; then
  git init --quiet -b main
  cat > src/main.rs <<'R'
//! Compresses and decompresses 4 MB of made-up words, the same in every version.
fn main() {
    let words = ["time ", "history ", "gate ", "commit ", "reference ", "block\n", "trial ", "0.25 "];
    let mut state = 1_u64;
    let mut text = Vec::new();
    while text.len() < 4_000_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text.extend_from_slice(words[(state >> 61) as usize].as_bytes());
        text.push(b'a' + (state >> 40) as u8 % 26);
    }
    let packed = miniz_oxide::deflate::compress_to_vec(&text, 6);
    let back = miniz_oxide::inflate::decompress_to_vec(&packed).ok().expect("a whole stream");
    assert!(back == text, "the text came back changed");
    println!("{}", packed.len());
}
R
  printf '/target\n/Cargo.lock\n' > .gitignore
  for version in 0.3.7 0.4.0 0.4.4 0.5.1 0.5.4 0.6.2 0.7.1 0.7.2 0.7.3 0.7.4 0.8.0 0.8.2 0.8.5 0.8.8 0.8.9; do
    printf '[package]\nname = "prog"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nminiz_oxide = "=%s"\n' "$version" > Cargo.toml
    git add -A
    git -c user.name=bench -c user.email=bench@example.org commit --quiet -m "miniz_oxide $version"
    git tag "v$version"
  done
fi
code=0
"$ASSAY" history --rev v0.3.7..main --build 'cargo build --release --quiet' --monitors none --metric "${METRIC:-user}" \
  --blocks "${BLOCKS:-6}" --fill --confirm --budget "${BUDGET:-30 min}" --raw -o "$out/history.html" -- ./target/release/prog || code=$?
# 5: a change for the worse is confirmed, which is a result.
[ "$code" = 0 ] || [ "$code" = 5 ] || exit "$code"
"$ASSAY" publish --history -o "$out/page" --force

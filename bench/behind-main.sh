#!/usr/bin/env bash
# Gates of branches that change only a README while main became 30 % faster: 20 repositories, each as a branch behind
# main and as a test merge with an old base, as CI checks one out. Nobody may be blamed or praised for commits of others.
# Usage: bench/behind-main.sh [REPOSITORIES]     ASSAY names the binary; without it a release build is made.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state"
git() { command git -c user.name=bench -c user.email=bench@example.org -c init.defaultBranch=main "$@"; }
commit() { git add -A; git commit --quiet -m "$1"; }
program() { printf '#!/bin/sh\ni=0; while [ $i -lt %s ]; do i=$((i+1)); done\n' "$1" > prog; chmod +x prog; }
blamed=0 praised=0 wrong=0 gates=0
for n in $(seq "${1:-20}"); do
  mkdir "$work/repo"
  cd "$work/repo"
  git init --quiet
  rounds=$((20000 + 2000 * n))
  program $rounds; commit base
  old="$(git rev-parse HEAD)"
  git checkout --quiet -b change; echo words > README; commit words
  git checkout --quiet main; program $((rounds * 7 / 10)); commit faster
  fast="$(git rev-parse HEAD)"
  git checkout --quiet -b merge; git merge --quiet --no-edit change
  for kind in "$old --base main --head change" "$fast --base $old --head merge"; do
    read -r expected arguments <<< "$kind"
    code=0
    # shellcheck disable=SC2086 # words
    "$ASSAY" gate --json --quiet $arguments --build true --monitors none --profile never --budget '30 s' \
      -- ./prog > "$work/answer" 2> "$work/stderr" || code=$?
    read -r verdict base <<< "$(python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["verdict"], a["base_commit"])' \
      < "$work/answer" || echo unknown unknown)"
    gates=$((gates + 1))
    [ "$verdict" != worse ] || blamed=$((blamed + 1))
    [ "$verdict" != better ] || praised=$((praised + 1))
    if [ "$base" != "$expected" ] || [ $code != 0 ]; then
      wrong=$((wrong + 1))
      echo "repository $n, $arguments: exit code $code, $verdict, base $base, expected $expected"
      tail -n 2 "$work/stderr"
    fi
  done
  cd "$work"
  rm -rf "$work/repo"
done
echo "$gates gates: $blamed blamed, $praised praised, $wrong with another base or exit code"

# Keeps the reports of the run that ended in this folder.
set -eu
mkdir -p keep
found=0
for file in $(find result -name '*.raw' 2>/dev/null); do
    [ -s "$file" ] || continue
    found=1
    cp "$file" keep/
done
[ "$found" = 1 ] || { echo "there is no raw report in result/"; exit 1; }

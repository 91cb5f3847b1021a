# Keeps the reports of the run that ended in this folder.
set -eu
mkdir -p keep
found=0
for file in results/SPECjbb*/*.raw results/SPECjbb*/*.txt; do
    [ -s "$file" ] || continue
    case $file in *.raw) found=1 ;; esac
    cp "$file" keep/
    if grep -q 'INVALID\|Invalid' "$file"; then
        echo "the kit says that the run is invalid: $(grep -m 1 'INVALID\|Invalid' "$file")"
        exit 1
    fi
done
[ "$found" = 1 ] || { echo "there is no raw report in results/"; exit 1; }
cp instance-*.log run.props keep/ 2>/dev/null || true

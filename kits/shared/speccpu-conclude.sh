# Prints the reason, in the kit's own words, why the run that ended in this folder is invalid.
set -eu
words=$(grep -A 1 'Miscompare of\|Invalid run;' keep/output.txt | head -n 20 || true)
[ -z "$words" ] || { echo "$words"; exit 1; }
for raw in keep/*.rsf; do
    [ -f "$raw" ] && exit 0
done
echo "no raw file (.rsf) was named in the output; its last lines are"
tail -n 20 keep/output.txt
exit 1

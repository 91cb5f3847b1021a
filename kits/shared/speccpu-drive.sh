# drive.sh TASK PROGRAM PATH OUTPUT CONFIG TUNE SIZE ITERATIONS COPIES THREADS REPORTABLE BENCHMARKS...
# Drives the licensed kit in the folder PATH with its own PROGRAM (runspec or runcpu). TASK `build` checks
# that everything is there and builds what is out of date; `run` runs, and keeps the raw files.
set -eu
task=$1 program=$2 path=$3 output=$4 config=$5 tune=$6 size=$7 iterations=$8 copies=$9
shift 9
threads=$1 reportable=$2
shift 2
for file in shrc config "bin/$program"; do
    [ -e "$path/$file" ] || {
        echo "there is no $file in $path; path must be the folder where a licensed SPEC CPU with $program is installed, with shrc, config/ and bin/$program in it" >&2
        exit 1
    }
done
case $config in
/*) [ -f "$config" ] ;;
*) [ -f "$path/config/$config" ] || [ -f "$path/config/$config.cfg" ] ;;
esac || {
    echo "there is no configuration file $config; config must be the name of one in $path/config, or an absolute path" >&2
    exit 1
}
[ $# -gt 0 ] || { echo "benchmarks is empty; name suites or benchmarks of the kit" >&2; exit 1; }

# The options come before the benchmarks.
if [ "$task" = build ]; then
    set -- --action=build "$@"
else
    case $reportable in true) set -- --reportable "$@" ;; *) set -- --noreportable "$@" ;; esac
    [ "$iterations" = 0 ] || set -- --iterations="$iterations" "$@"
    [ "$threads" = 0 ] || set -- --threads="$threads" "$@"
    if [ "$copies" != 0 ]; then
        # The older program takes the number of copies in --rate.
        case $program in
        runspec) set -- --rate "$copies" "$@" ;;
        *) set -- --copies="$copies" "$@" ;;
        esac
    fi
fi
[ -z "$output" ] || set -- --output_root="$output" "$@"
set -- --config="$config" --tune="$tune" --size="$size" "$@"

drive() {
    cd "$path"
    set +eu # the kit's own file need not keep to them
    . ./shrc
    exec "$program" "$@"
}
if [ "$task" = build ]; then
    drive "$@"
fi
mkdir -p keep
code=0
(drive "$@") >keep/output.txt 2>&1 || code=$?
cat keep/output.txt
sed -n 's/^ *format: raw -> *//p' keep/output.txt | while IFS= read -r raw; do
    for file in "$raw" "${raw%.rsf}.csv" "${raw%.rsf}.txt"; do
        [ ! -f "$file" ] || cp "$file" keep/
    done
done
[ "$code" != 0 ] || exit 0
# A run with a verdict has completed; the validation judges the verdict.
if grep -q 'Miscompare of\|Invalid run;' keep/output.txt; then exit 0; fi
if grep -qs '^spec\..*\.valid: *\(CE\|RE\|VE\|TE\)' keep/*.rsf; then exit 0; fi
grep -i error keep/output.txt | tail -n 1 >&2
exit "$code"

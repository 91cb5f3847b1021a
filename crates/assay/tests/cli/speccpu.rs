//! The recipes for licensed SPEC CPU kits, with a stand-in that behaves as the public documents
//! describe: the command line, the required files, the output, and the raw file with made-up
//! numbers. Nothing here is SPEC's.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{World, metric};
use serde_json::Value;

/// Stand-in for `runspec` and `runcpu`: it builds before it runs, and behaves as the file `mood`
/// says.
const STAND_IN: &str = r#"#!/bin/sh
[ -n "$SPEC" ] || { echo "shrc was not read"; exit 9; }
mood=$(cat "$SPEC/mood" 2>/dev/null || true)
root=$SPEC reportable=0 tune=base size=ref action=validate copies=1 iterations=3 names=
while [ $# -gt 0 ]; do
    case $1 in
    --config=mine) ;;
    --action=*) action=${1#*=} ;;
    --tune=*) tune=${1#*=} ;;
    --size=*) size=${1#*=} ;;
    --iterations=*) iterations=${1#*=} ;;
    --copies=*) copies=${1#*=} ;;
    --rate) copies=$2; shift ;;
    --output_root=*) root=${1#*=} ;;
    --reportable) reportable=1 ;;
    --noreportable) reportable=0 ;;
    -*) echo "Unknown option: $1"; exit 9 ;;
    *) names="$names $1" ;;
    esac
    shift
done
mkdir -p "$root/result" "$root/exe"
if [ "$action" = build ]; then echo x >>"$root/exe/built";
    echo "Build successes: $names";
exit 0; fi
[ -e "$root/exe/built" ] || { echo "ERROR: not built"; exit 1; }
if [ "$mood" = stop ]; then
    echo "*** Miscompare of mcf.out; for details see"
    echo "    $root/run/mcf.out.mis"
    echo "Invalid run; unable to continue."
    exit 1
fi
[ "$mood" != broken ] || { echo "ERROR: the license could not be read"; exit 2; }
suite=${0##*/}
case $suite in runspec) p=spec.cpu2006 ;; *) p=$(cat "$SPEC/prefix") ;; esac
raw=$root/result/CPU.001.$size.rsf
status=S
[ "$mood" != miscompare ] || status=VE
{
    echo "$p.suitever: 1.1.9"
    echo "$p.reportable: $reportable"

    case $tune in base | all) echo "$p.basemean: 8.25";
        echo "$p.baseunits: SPECrate2017_int_base" ;; esac
    [ "$mood" = invalid ] && { echo "$p.invalid: 1";
        echo "$p.errors000: 505.mcf_r (base) did not have enough runs!"; }
    [ $reportable = 1 ] || echo "$p.errors001: 'reportable' flag not set during run"
    t=$tune; [ "$tune" != all ] || t="base peak"
    for tune in $t; do
        n=0
        while [ $n -lt "$iterations" ]; do
            for b in 505.mcf_r:100:4 557.xz_r:10:9; do
                name=${b%%:*} rest=${b#*:}
                r=$p.results.$(echo "$name" | tr . _).$tune.00$n
                ratio=$((${rest#*:} * copies))
                [ "$size" = ref ] || ratio=--
                [ "$tune" = base ] || ratio=$((ratio * 2))
                echo "$r.benchmark: $name"
                echo "$r.copies: $copies"
                echo "$r.reported_time: $((${rest%:*} + n)).500000"
                echo "$r.ratio: $ratio"
                [ $n = 1 ] && echo "$r.selected: 1"
                if [ $status = VE ] && [ $n = 0 ] && [ "$name" = 557.xz_r ]; then
                    echo "$r.valid: VE"; echo "$r.errors000: Output miscompare"
                else
                    echo "$r.valid: S"
                fi
            done
            n=$((n + 1))
        done
    done
} >"$raw"
echo "Success: 1x505.mcf_r 1x557.xz_r"
echo "Producing Raw Reports"
echo "    format: raw -> $raw"
"#;

fn licensed(world: &World, program: &str, prefix: &str) -> String {
    let kit = world.path("licensed");
    fs::create_dir_all(kit.join("bin")).unwrap();
    fs::create_dir_all(kit.join("config")).unwrap();
    fs::write(kit.join("shrc"), "SPEC=$(pwd); export SPEC; PATH=$SPEC/bin:$PATH; false\n").unwrap();
    fs::write(kit.join("config/mine.cfg"), "").unwrap();
    fs::write(kit.join("prefix"), prefix).unwrap();
    let program = kit.join("bin").join(program);
    fs::write(&program, STAND_IN).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    format!("path={}", kit.display())
}

/// Returns the exit code and the first record of a run, with the names of the files that were kept.
fn run(world: &World, kit: &str, settings: &[&str]) -> (i32, Value, String) {
    let mut arguments = vec!["run", kit, "--blocks", "1", "--json"];
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let done = world.run(&arguments);
    let run = world.runs().pop().unwrap_or_else(|| panic!("no run: {}", done.stderr));
    let text = fs::read_to_string(run.join("records.jsonl")).unwrap_or_default();
    let record = text.lines().next().map_or(Value::Null, |l| serde_json::from_str(l).unwrap());
    let kept = fs::read_dir(run.join("trials/0001")).map(|d| {
        let names = d.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        names.collect::<Vec<_>>().join(" ")
    });
    (done.code, record, kept.unwrap_or_default())
}

fn error(record: &Value) -> &str {
    record["error"].as_str().unwrap_or_default()
}

const MINE: [&str; 2] = ["config=mine", "benchmarks=505.mcf_r 557.xz_r"];

#[test]
fn base_and_peak_of_2017() {
    let world = World::new();
    let path = licensed(&world, "runcpu", "spec.cpu2017");
    let output = format!("output={}", world.path("out").display());
    let settings = [&path, MINE[0], MINE[1], "tune=all", "copies=4", "iterations=3", &output];
    let (code, record, kept) = run(&world, "speccpu2017", &settings);
    assert_eq!(code, 0, "{record}");
    // The mean of 16 and 36, and of twice these; the second run of each benchmark is the selected
    // one.
    let near = |name: &str, wanted: f64| {
        let found = metric(&record, name).unwrap_or_else(|| panic!("{name}: {record}"));
        assert!((found - wanted).abs() < 1e-9, "{name} is {found}, not {wanted}");
    };
    near("ratio", 24.0);
    near("peak_ratio", 48.0);
    near("time", 101.5 + 11.5);
    near("505.mcf_r.base.ratio", 16.0);
    near("557.xz_r.peak.ratio", 72.0);
    near("557.xz_r.base.time", 11.5);
    near("SPECrate2017_int_base", 8.25);
    let notes = record["notes"].to_string();
    assert!(notes.contains("calls its numbers estimates"), "{notes}");
    assert!(notes.contains("'reportable' flag not set during run"), "{notes}");
    assert!(kept.contains("CPU.001.ref.rsf") && kept.contains("output.txt"), "{kept}");
    assert!(!world.path("licensed/result").exists(), "nothing gets into the licensed folder");
}

#[test]
fn peak_alone_copies_of_2006_and_2026() {
    let world = World::new();
    let path = licensed(&world, "runspec", "");
    let settings = [&path, MINE[0], MINE[1], "tune=peak", "copies=2", "iterations=1"];
    let (code, record, _) = run(&world, "speccpu2006", &settings);
    assert_eq!((code, metric(&record, "ratio").map(f64::round)), (0, Some(24.0)), "{record}");
    let world = World::new();
    let path = licensed(&world, "runcpu", "spec.cpu2026");
    let settings = [&path, MINE[0], MINE[1], "reportable=true"];
    let (code, record, _) = run(&world, "speccpu2026", &settings);
    assert_eq!((code, metric(&record, "ratio").map(f64::round)), (0, Some(6.0)), "{record}");
    assert!(!record["notes"].to_string().contains("estimates"), "{record}");
}

#[test]
fn what_the_tools_do_not_accept_does_not_count() {
    let cases = [
        (
            "miscompare",
            "reportable=false",
            "invalid",
            "557.xz_r (base): its output was wrong (VE): Output miscompare",
        ),
        ("invalid", "reportable=true", "invalid", "505.mcf_r (base) did not have enough runs!"),
        ("stop", "reportable=false", "invalid", "*** Miscompare of mcf.out; for details see"),
        ("broken", "reportable=false", "failed", "the license could not be read"),
    ];
    for (mood, reportable, outcome, words) in cases {
        let world = World::new();
        let path = licensed(&world, "runcpu", "spec.cpu2017");
        fs::write(world.path("licensed/mood"), mood).unwrap();
        let (code, record, _) = run(&world, "speccpu2017", &[&path, MINE[0], MINE[1], reportable]);
        assert_eq!((code, record["outcome"].as_str()), (3, Some(outcome)), "{mood}: {record}");
        assert!(error(&record).contains(words), "{mood}: {record}");
    }
}

#[test]
fn a_small_input_has_no_ratio_and_says_so() {
    let world = World::new();
    let path = licensed(&world, "runcpu", "spec.cpu2017");
    let (code, record, _) = run(&world, "speccpu2017", &[&path, MINE[0], MINE[1], "size=test"]);
    assert_eq!(code, 3);
    assert!(error(&record).contains("reported no value for `ratio`"), "{record}");
    assert_eq!(metric(&record, "time"), Some(113.0), "{record}");
}

#[test]
fn a_wrong_path_or_configuration_is_named() {
    let world = World::new();
    let (code, record, _) = run(&world, "speccpu2017", &["path=/nowhere", MINE[0], MINE[1]]);
    assert_eq!(code, 3);
    assert!(
        error(&record).contains("path must be the folder where a licensed SPEC CPU"),
        "{record}"
    );
    let world = World::new();
    let path = licensed(&world, "runcpu", "spec.cpu2017");
    let (_, record, _) = run(&world, "speccpu2017", &[&path, "config=other", MINE[1]]);
    assert!(error(&record).contains("there is no configuration file other"), "{record}");
    let done = world.run(&["run", "speccpu2017", "--blocks", "1"]);
    assert!(done.code != 0 && done.stderr.contains("`path`"), "{}", done.stderr);
}

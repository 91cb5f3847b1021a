//! The recipes for licensed kits, with a stand-in that behaves as the kits' documents describe: the
//! command line, the required files, the output, and the raw report. Nothing here is SPEC's.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{World, metric};
use serde_json::Value;

/// Stand-in for `java`: it checks its arguments, and writes what the kit would write.
const STAND_IN: &str = r#"#!/bin/sh
[ "$1" = -version ] && { echo 'openjdk version "17.0.1"' >&2; exit 0; }
[ "$1" = -Xms1g ] || [ "$1" = -Xms4g ] || { echo "options: $*"; exit 9; }
shift 2
case "$*" in
"-cp jbb.jar:check.jar spec.jbb.JBBmain -propfile run.props")
    [ -e jbb.jar ] && [ -e xml/page.xml ] && grep -q '^input.jvm_instances=1$' run.props || exit 9
    report=1 each=170000 all=170000 ;;
"-cp jbb.jar:check.jar spec.jbb.Controller -propfile run.props")
    grep -q '^input.jvm_instances=2$' run.props || exit 9
    [ "$(grep -c jvm_instances run.props)" = 1 ] || exit 9
    report=1 each=90000 all=180000 ;;
"-cp jbb.jar:check.jar spec.jbb.JBBmain -propfile run.props -id "[12]) echo working; exit 0 ;;
"-jar specjbb2015.jar -m COMPOSITE")
    report=result/specjbb2015-C-20260101-00001/report-00001
    mkdir -p $report
    echo 'jbb2015.result.metric.max-jOPS = 1264' > $report/x.raw
    echo 'RUN RESULT: hbIR (max attempted) = 1505, hbIR (settled) = 1384,' \
        'max-jOPS = 1264, critical-jOPS = 526'
    exit 0 ;;
*) echo "called as: $*"; exit 9 ;;
esac
mkdir -p results/SPECjbb.001
echo "a raw report $(cat verdict 2>/dev/null)" > results/SPECjbb.001/SPECjbb.001.raw
echo "SPECjbb2005 bops = $all, SPECjbb2005 bops/JVM = $each"
"#;

fn licensed(world: &World) -> [String; 2] {
    let java = world.write("java", STAND_IN);
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755)).unwrap();
    let kit = world.path("licensed");
    fs::create_dir_all(kit.join("xml")).unwrap();
    for (name, text) in [
        ("jbb.jar", ""),
        ("check.jar", ""),
        ("specjbb2015.jar", ""),
        ("xml/page.xml", ""),
        ("SPECjbb.props", "input.jvm_instances=7\ninput.suite=SPECjbb\n"),
    ] {
        fs::write(kit.join(name), text).unwrap();
    }
    [format!("path={}", kit.display()), format!("jvm={}", java.display())]
}

fn run(world: &World, kit: &str, settings: &[&str]) -> (i32, Value, String) {
    let mut arguments = vec!["run", kit, "--blocks", "1", "--json"];
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let done = world.run(&arguments);
    let run = world.runs().pop().unwrap_or_else(|| panic!("no run: {}", done.stderr));
    let text = fs::read_to_string(run.join("records.jsonl")).unwrap_or_default();
    let record = text.lines().next().map_or(Value::Null, |l| serde_json::from_str(l).unwrap());
    let raw = fs::read_dir(run.join("trials/0001")).map(|d| {
        d.flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    });
    (done.code, record, raw.unwrap_or_default())
}

#[test]
fn one_and_several_virtual_machines_of_2005() {
    let world = World::new();
    let [path, jvm] = licensed(&world);
    let (code, record, kept) = run(&world, "specjbb2005", &[&path, &jvm]);
    assert_eq!(code, 0, "{record}");
    assert_eq!(
        (metric(&record, "score"), metric(&record, "score_per_instance")),
        (Some(170000.0), Some(170000.0))
    );
    assert!(kept.contains("SPECjbb.001.raw"), "{kept}");
    assert!(!world.path("licensed/results").exists(), "nothing gets into the licensed folder");
    let world = World::new();
    let [path, jvm] = licensed(&world);
    let (code, record, kept) = run(&world, "specjbb2005", &[&path, &jvm, "instances=2"]);
    assert_eq!(code, 0, "{record}");
    assert_eq!(
        (metric(&record, "score"), metric(&record, "score_per_instance")),
        (Some(180000.0), Some(90000.0))
    );
    assert!(kept.contains("instance-2.log"), "{kept}");
}

#[test]
fn a_run_that_the_kit_calls_invalid_does_not_count() {
    let world = World::new();
    let [path, jvm] = licensed(&world);
    fs::write(world.path("licensed/verdict"), "Invalid: a point is too short").unwrap();
    let (code, record, _) = run(&world, "specjbb2005", &[&path, &jvm]);
    assert_eq!((code, record["outcome"].as_str()), (3, Some("invalid")), "{record}");
    assert!(record["error"].as_str().unwrap().contains("a point is too short"), "{record}");
}

#[test]
fn a_folder_without_a_kit_is_named() {
    let world = World::new();
    let [_, jvm] = licensed(&world);
    let (code, record, _) = run(&world, "specjbb2005", &["path=/nowhere", &jvm]);
    assert_eq!(code, 3);
    assert!(
        record["error"].as_str().unwrap().contains("path must be the folder of a licensed"),
        "{record}"
    );
}

#[test]
fn the_composite_of_2015() {
    let world = World::new();
    let [path, jvm] = licensed(&world);
    let (code, record, kept) = run(&world, "specjbb2015", &[&path, &jvm]);
    assert_eq!(code, 0, "{record}");
    assert_eq!(
        (metric(&record, "max_rate"), metric(&record, "critical_rate")),
        (Some(1264.0), Some(526.0))
    );
    assert!(kept.contains("x.raw"), "{kept}");
}

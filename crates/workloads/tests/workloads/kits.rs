//! Kits from folder to validated metrics, with small kits of the tests' own that need no network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_model::{Exit, Experiment, Fact, FactorLevels, ResourceUse, Scalar, ValidationResult};
use assay_workloads::kit::{Kit, check};
use assay_workloads::{CollectedResults, FinishedProgram, TrialContext, Workload, WorkloadError};

const KIT: &str = r#"
schema_version = 1
name = "tiny"
version = "1"
help = "counts"

[[param]]
name = "count"
type = "int"
min = 1
max = 1000
default = 10
help = "how far"

[[param]]
name = "flags"
type = "text"
default = "-x '-y z'"
help = "words"

[[param]]
name = "amount"
type = "bytes"
default = "1 KiB"
help = "bytes"

[[need]]
program = "sh"
package = "dash"
version = ["-c", "echo sh 1"]

[build]
produces = ["tool"]
env = { WORD = "{flags}" }
steps = [
  { shell = "echo build $KIT_FLAGS; (echo '#!/bin/sh'; cat $KIT_KIT/body) > tool; chmod +x tool" },
]

[prepare]
run = [{ shell = "seq $KIT_COUNT > numbers; echo once >> \"$KIT_RUN_DIR/made\"" }]
trial = [["cp", "{input}/numbers", "{trial_dir}/mine"]]

[run]
command = ["{build}/tool", "{count}", "{flags...}", "{amount}", "{cpus}", "{cpu_count}"]
env = { TRIAL = "{trial}" }
stdin = "{input}/numbers"

[validate]
stdout_contains = ["sum {count}"]
files = { "{trial_dir}/fixed" = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }
commands = [["cmp", "{input}/numbers", "{trial_dir}/mine"]]

[[metric]]
name = "rate"
unit = "B/s"
better = "higher"
help = "amount / elapsed"
from = "quotient"
dividend = "{amount}"
divisor = "elapsed"

[[metric]]
name = "elapsed"
unit = "s"
better = "lower"
help = "wall time"
from = "elapsed"

[[metric]]
name = "printed"
unit = "B/s"
better = "higher"
help = "as printed"
from = "stdout"
pattern = "rate: {value} MB/s"
scale = 1e6

[[metric]]
name = "deep"
unit = "1"
better = "neither"
help = "of JSON"
from = "file"
path = "{trial_dir}/out.json"
json = "/a/1"

[[metric]]
name = "size"
unit = "B"
better = "lower"
help = "of a file"
from = "size"
path = "{trial_dir}/fixed"
"#;

/// A kit's folder, a run's folders and parameters.
struct Lab {
    dir: tempfile::TempDir,
    params: BTreeMap<String, Scalar>,
}

impl Lab {
    fn new(kit: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for sub in ["tiny", "run", "trial", "cache"] {
            fs::create_dir(dir.path().join(sub)).expect("a new folder");
        }
        fs::write(dir.path().join("tiny/kit.toml"), kit).expect("a new file");
        fs::write(dir.path().join("tiny/body"), "echo \"$@\"\n").expect("a new file");
        Lab { dir, params: BTreeMap::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn kit(&self) -> Kit {
        Kit::load(&self.path("tiny"), Some(&self.path("cache"))).unwrap_or_else(|e| panic!("{e}"))
    }

    fn with<T>(&self, then: impl FnOnce(&TrialContext<'_>) -> T) -> T {
        then(&TrialContext {
            number: 7,
            block: 0,
            treatment: 0,
            params: &self.params,
            cpus: &[0, 2],
            trial_dir: &self.path("trial"),
            run_dir: &self.path("run"),
            cache_dir: &self.path("cache"),
            exe: Path::new("/nonexistent/assay"),
            previous: &[],
        })
    }

    fn collect(&self, kit: &Kit, exit: Exit, stdout: &str) -> CollectedResults {
        let resources = ResourceUse { wall_s: 0.5, ..ResourceUse::default() };
        let finished = FinishedProgram {
            exit,
            resources: &resources,
            stdout: stdout.as_bytes(),
            stderr: b"",
            stdout_whole: true,
            empty_s: None,
        };
        self.with(|ctx| kit.collect(ctx, &finished)).unwrap_or_else(|e| panic!("{e}"))
    }
}

#[test]
fn from_folder_to_launch() {
    let lab = Lab::new(KIT);
    assert_eq!(check(&lab.path("tiny")), []);
    let kit = lab.kit();
    kit.check(&lab.params).unwrap_or_else(|e| panic!("{e}"));
    let before = kit.describe(&lab.params);
    assert!(matches!(before["workload.kit.build.tool.sha256"], Fact::Unknown { .. }));
    assert_eq!(before["workload.kit.need.sh.version"], Fact::known("sh 1"));

    for _ in 0..2 {
        lab.with(|ctx| kit.prepare(ctx)).unwrap_or_else(|e| panic!("{e}"));
    }
    let made = fs::read_to_string(lab.path("run/made")).expect("the input was made");
    assert_eq!(made, "once\n", "inputs are made once in a run");
    let fresh = lab.kit();
    let fact = fresh.describe(&lab.params)["workload.kit.build.tool.sha256"].clone();
    assert_eq!(fact.value().map(str::len), Some(64), "another process sees what is built");

    let launch = lab.with(|ctx| kit.launch(ctx)).unwrap_or_else(|e| panic!("{e}"));
    let words: Vec<&str> = launch.argv[1..].iter().filter_map(|w| w.to_str()).collect();
    assert_eq!(words, ["10", "-x", "-y z", "1024", "0,2", "2"]);
    assert!(launch.env.contains(&("TRIAL".into(), "7".into())));
    let stdin = launch.stdin.expect("a file for standard input");
    assert_eq!(fs::read_to_string(stdin).expect("the input").lines().count(), 10);
    assert!(kit.lines().iter().any(|l| l.starts_with("build: sh -c 'echo build")));
}

#[test]
fn what_a_build_depends_on_has_its_own_build() {
    let mut lab = Lab::new(KIT);
    let kit = lab.kit();
    let tool = |lab: &Lab, kit: &Kit| {
        lab.with(|ctx| {
            kit.prepare(ctx).unwrap_or_else(|e| panic!("{e}"));
            kit.launch(ctx).unwrap_or_else(|e| panic!("{e}")).argv[0].clone()
        })
    };
    let first = tool(&lab, &kit);
    lab.params.insert("count".into(), Scalar::Int(20));
    assert_eq!(tool(&lab, &kit), first, "the build does not name {{count}}");
    lab.params.insert("flags".into(), Scalar::from("-z"));
    assert_ne!(tool(&lab, &kit), first, "the build names {{flags}}");
    fs::write(lab.path("tiny/body"), "echo changed\n").expect("the kit can be changed");
    lab.params.remove("flags");
    assert_ne!(tool(&lab, &lab.kit()), first, "a file of the kit changed");
    fs::write(lab.path("tiny/body"), "echo \"$@\"\n").expect("the kit can be changed");
    fs::write(&first, "tampered").expect("the build can be changed");
    assert_eq!(tool(&lab, &lab.kit()), first);
    let text = fs::read_to_string(&first).expect("the tool");
    assert!(text.starts_with("#!/bin/sh"), "a changed build is built again: {text}");
}

#[test]
fn a_file_in_common_is_a_part_of_the_kit() {
    let shared = "[shared]\nfrom = \"../common\"\nfiles = [\"tail\"]\n\n[[param]]";
    let text = KIT.replacen("[[param]]", shared, 1).replace("KIT_KIT/body", "KIT_SHARED/tail");
    let lab = Lab::new(&text);
    let problems = check(&lab.path("tiny"));
    assert!(problems[0].message.contains("there is no file") && problems[0].line.is_some());
    fs::create_dir(lab.path("common")).expect("a new folder");
    let write = |words: &str| fs::write(lab.path("common/tail"), words).expect("a new file");
    write("echo one\n");
    let tool = |kit: &Kit| {
        lab.with(|ctx| {
            kit.prepare(ctx).unwrap_or_else(|e| panic!("{e}"));
            kit.launch(ctx).unwrap_or_else(|e| panic!("{e}")).argv[0].clone()
        })
    };
    let first = tool(&lab.kit());
    assert!(fs::read_to_string(&first).expect("the tool").contains("echo one"));
    write("echo two\n");
    let second = tool(&lab.kit());
    assert_ne!(first, second, "a file in common changed");
    assert!(fs::read_to_string(&second).expect("the tool").contains("echo two"));
}

#[test]
fn metrics_and_validation() {
    let lab = Lab::new(KIT);
    let kit = lab.kit();
    lab.with(|ctx| kit.prepare(ctx)).unwrap_or_else(|e| panic!("{e}"));
    fs::write(lab.path("trial/fixed"), "abc").expect("a new file");
    fs::write(lab.path("trial/out.json"), r#"{"a":[1,2.5]}"#).expect("a new file");
    let right = "sum 10\nrate: 1.5 MB/s\n";
    let good = lab.collect(&kit, Exit::Code(0), right);
    let values: Vec<_> = good.metrics.iter().map(|m| (m.name.as_str(), m.value)).collect();
    let expected = [
        ("rate", Some(2048.0)),
        ("elapsed", Some(0.5)),
        ("printed", Some(1.5e6)),
        ("deep", Some(2.5)),
        ("size", Some(3.0)),
    ];
    assert_eq!(values, expected);
    assert!(matches!(good.validation, ValidationResult::Passed { .. }), "{:?}", good.validation);

    let failed = |exit, stdout: &str, why: &str| match lab.collect(&kit, exit, stdout).validation {
        ValidationResult::Failed { detail } => assert!(detail.contains(why), "{detail}"),
        other => panic!("{other:?} where {why} was expected"),
    };
    failed(Exit::Code(3), right, "exit code 3");
    failed(Exit::Signal(11), right, "signal 11");
    failed(Exit::Code(0), "sum 11", "does not contain `sum 10`");
    fs::write(lab.path("trial/mine"), "other").expect("the file can be changed");
    failed(Exit::Code(0), right, "cmp");
    fs::write(lab.path("trial/fixed"), "abd").expect("the file can be changed");
    failed(Exit::Code(0), right, "SHA-256");

    fs::write(lab.path("trial/out.json"), "{").expect("the file can be changed");
    let without = lab.collect(&kit, Exit::Code(0), "sum 10");
    let missing: Vec<_> = without.metrics.iter().filter(|m| m.value.is_none()).collect();
    assert_eq!(missing.len(), 2, "a number that is not there is missing, not 0");
    assert!(without.notes.iter().any(|n| n.contains("nothing matches")), "{:?}", without.notes);
}

#[test]
fn result_files_give_metrics_and_a_verdict() {
    let table = "[result]\nreader = \"spec-cpu\"\npath = \"{trial_dir}/results\"\n\n[[metric]]";
    let text = KIT.replacen("[[metric]]", table, 1).replacen(
        "from = \"elapsed\"",
        "from = \"result\"\nitem = \"time\"",
        1,
    );
    let text = text.split("\n[validate]").next().expect("a part").to_owned()
        + &text[text.find("\n[result]").expect("the table")..];
    let lab = Lab::new(&text);
    let kit = lab.kit();
    let with_file = |file: &str| {
        fs::write(lab.path("trial/results"), file).expect("a new file");
        lab.collect(&kit, Exit::Code(0), "")
    };
    let report = include_str!("readers/data/spec.csv");
    let good = with_file(report);
    assert!(matches!(good.validation, ValidationResult::Passed { .. }), "{:?}", good.validation);
    let value = |name: &str| good.metrics.iter().find(|m| m.name == name).and_then(|m| m.value);
    assert_eq!(value("elapsed"), Some(408.25 + 510.0), "of the runs that were selected");
    assert_eq!(value("505.mcf_r.peak.ratio"), Some(66.3));
    assert_eq!(value("SPECrate2017_int_base"), Some(114.7));

    let failed = |file: &str, why: &str| match with_file(file).validation {
        ValidationResult::Failed { detail } => assert!(detail.contains(why), "{detail}"),
        other => panic!("{other:?} where {why} was expected"),
    };
    failed(&report.replace(",0,S,16", ",0,VE,16"), "505.mcf_r (base): its output was wrong (VE)");
    failed(&report.replace("Est. ", "").replace("valid,1", "valid,0"), "an invalid run");
    failed(&report.replace("510.000000", "soon"), "results:8: `base run time` is `soon`");
    failed("something else", "neither a raw file nor a CSV report");
}

#[test]
fn a_failing_build_shows_its_last_lines() {
    let kit = KIT.replace("chmod +x tool\"", "echo 'tool.c:3: error'; exit 9\"");
    let lab = Lab::new(&kit);
    let kit = lab.kit();
    let error = lab.with(|ctx| kit.prepare(ctx)).expect_err("the build fails").to_string();
    assert!(error.contains("build of kit tiny, step 1 of 1"), "{error}");
    assert!(error.contains("exit code 9; its last lines:"), "{error}");
    assert!(error.ends_with("tool.c:3: error"), "{error}");
    let again = lab.with(|ctx| kit.prepare(ctx)).expect_err("a failed build is no build");
    assert!(matches!(again, WorkloadError::Step { .. }), "{again}");
}

#[test]
fn a_missing_product_or_program_is_named() {
    let lab = Lab::new(&KIT.replace("produces = [\"tool\"]", "produces = [\"tool\", \"other\"]"));
    let error = lab.with(|ctx| lab.kit().prepare(ctx)).expect_err("a product is missing");
    assert!(error.to_string().contains("/other cannot be read"), "{error}");
    let kit = KIT.replace("program = \"sh\"", "program = \"no-such-program-anywhere\"");
    let lab = Lab::new(&kit);
    let error = lab.kit().check(&lab.params).expect_err("a program is missing").to_string();
    assert!(error.contains("install the Debian package dash"), "{error}");
}

#[test]
fn mistakes_have_their_line() {
    let cases = [
        ("name = \"tiny\"", "name = \"other\"", ":3: the kit is named"),
        ("help = \"counts\"", "helf = \"counts\"", ":5: unknown field `helf`"),
        ("default = 10", "default = 2000", ":8: the default of `count` is 2000"),
        ("\"-x '-y z'\"", "\"--password hunter2\"", "the default of `flags` looks like a secret"),
        (
            "name = \"flags\"\ntype = \"text\"\ndefault = \"-x '-y z'\"",
            "name = \"password\"\ntype = \"text\"\ndefault = \"swordfish\"",
            "the default of `password` looks like a secret",
        ),
        (
            "\"{input}/numbers\", \"{trial_dir}/mine\"]]\n\n[run]",
            "\"{inptu}\"]]\n\n[run]",
            "{inptu} is unknown",
        ),
        ("pattern = \"rate: {value} MB/s\"", "pattern = \"rate:\"", "has no {value}"),
        ("divisor = \"elapsed\"", "divisor = \"elapsde\"", "neither a metric above"),
        ("json = \"/a/1\"", "json = \"a.1\"", "starts with `/`"),
        ("path = \"{trial_dir}/fixed\"", "", "needs `path`"),
        ("$KIT_COUNT", "{count}", "use \"$KIT_COUNT\""),
        ("= \"ba7816", "= \"BA7816", "64 lower-case"),
        ("produces = [\"tool\"]", "produces = [\"../tool\"]", "inside of {build}"),
        ("run = [{ shell = ", "run = [{ shall = ", "unknown field `shall`"),
        ("[run]\n", "[run]\ntimeout = 3\n", "unknown field `timeout`"),
        ("type = \"bytes\"", "type = \"bites\"", "unknown variant `bites`"),
        ("name = \"amount\"", "name = \"input\"", "is reserved"),
        ("from = \"elapsed\"", "from = \"result\"\nitem = \"time\"", "needs a table [result]"),
        ("from = \"elapsed\"", "from = \"result\"", "this metric needs `item`"),
        ("from = \"elapsed\"", "from = \"elapsed\"\nitem = \"time\"", "does not belong"),
        ("better = \"neither\"", "better = \"up\"", "unknown variant `up`"),
    ];
    for (from, to, expected) in cases {
        assert!(KIT.contains(from), "{from}");
        let lab = Lab::new(&KIT.replacen(from, to, 1));
        let problems: Vec<String> =
            check(&lab.path("tiny")).iter().map(ToString::to_string).collect();
        assert!(problems.iter().any(|p| p.contains(expected)), "{expected}: {problems:?}");
        assert!(problems[0].contains("kit.toml:"), "{problems:?}");
        let error = Kit::load(&lab.path("tiny"), None).err().expect("it is wrong").to_string();
        assert!(error.contains("kit.toml:"), "{error}");
    }
    let nothing = check(Path::new("/nonexistent/kit"));
    assert_eq!(nothing.len(), 1);
}

#[test]
fn the_kits_that_ship_are_right() {
    let kits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kits");
    let mut count = 0;
    for entry in fs::read_dir(kits).expect("the folder of kits") {
        let dir = entry.expect("an entry").path();
        if dir.join("kit.toml").is_file() {
            assert_eq!(check(&dir), []);
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn the_kit_of_the_documentation_works() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workloads/kits.md");
    let docs = fs::read_to_string(docs).expect("the documentation");
    let kit = docs.split("```toml\n").nth(1).and_then(|t| t.split("```").next());
    let lab = Lab::new("");
    let dir = lab.path("sum");
    fs::create_dir(&dir).expect("a new folder");
    fs::write(dir.join("kit.toml"), kit.expect("an example")).expect("a new file");
    assert_eq!(check(&dir), []);
    let kit = Kit::load(&dir, None).unwrap_or_else(|e| panic!("{e}"));
    lab.with(|ctx| kit.prepare(ctx)).unwrap_or_else(|e| panic!("{e}"));
    let launch = lab.with(|ctx| kit.launch(ctx)).unwrap_or_else(|e| panic!("{e}"));
    let Ok(out) = Command::new(&launch.argv[0]).args(&launch.argv[1..]).output() else {
        println!("skipped: because there is no awk");
        return;
    };
    let stdout = String::from_utf8_lossy(&out.stdout);
    assert_eq!(stdout, "sum 500000500000\n");
    let collected = lab.collect(&kit, Exit::Code(0), &stdout);
    assert!(matches!(collected.validation, ValidationResult::Passed { .. }));
    assert_eq!(collected.metrics[0].value, Some(2e6));
}

#[test]
fn the_experiment_that_ships_fits_its_kit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("experiments/zstd-levels.toml")).expect("the file");
    let experiment: Experiment = toml::from_str(&text).unwrap_or_else(|e| panic!("{e}"));
    let kit = Kit::load(&root.join("kits").join(&experiment.workload), None);
    let kit = kit.unwrap_or_else(|e| panic!("{e}"));
    let spec =
        |name: &str| kit.spec().param(name).unwrap_or_else(|| panic!("{name} is no parameter"));
    for (name, value) in &experiment.params {
        assert_eq!(spec(name).check(value), Ok(()));
    }
    let FactorLevels::List(levels) = &experiment.factors["level"] else { panic!("no list") };
    for level in levels {
        assert_eq!(spec("level").check(level.value()), Ok(()));
    }
    let metric = experiment.compare.metric.expect("a metric to compare");
    assert!(kit.spec().metric(&metric).is_some(), "{metric}");
}

/// Head of a kit whose program is `cat`; metrics follow.
const SUITE: &str = r#"
schema_version = 1
name = "tiny"
version = "1"
help = "a suite"

[run]
command = ["cat"]
"#;

fn row(name: &str, unit: &str, rest: &str) -> String {
    let head = format!("[[metric]]\nname = \"{name}\"\nunit = \"{unit}\"");
    format!("{head}\nbetter = \"lower\"\nhelp = \"h\"\n{rest}\n")
}

/// Values of the benchmarks by name; the geometric mean is `benchmarks`.
fn benchmarks(found: &CollectedResults) -> Vec<(&str, Option<f64>)> {
    found.metrics.iter().map(|m| (m.name.as_str(), m.value)).collect()
}

const GO: &str =
    "goos: linux\nBenchmarkX-2  \t 19012\t  4000 ns/op\nBenchmarkY/a-b-2 7 1000 ns/op\nPASS\n";

#[test]
fn lines_with_names_are_benchmarks() {
    let pattern =
        "from = \"stdout\"\npattern = \"Benchmark{name}-{_} {_} {value} ns/op\"\nscale = 1e-9";
    let lab = Lab::new(&format!("{SUITE}{}", row("benchmarks", "s", pattern)));
    let found = lab.collect(&lab.kit(), Exit::Code(0), GO);
    let rounded = |v: f64| (v * 1e12).round() as i64;
    let values: Vec<_> = benchmarks(&found).into_iter().map(|(n, v)| (n, v.map(rounded))).collect();
    let expected = [("benchmarks", 2_000_000), ("X", 4_000_000), ("Y/a-b", 1_000_000)];
    assert_eq!(values, expected.map(|(n, v)| (n, Some(v))));
    assert!(found.metrics[1].benchmark && !found.metrics[0].benchmark);
    // Nothing, and one name twice, are missing values with the reason.
    for (text, reason) in [("", "no place matches"), (&GO.repeat(2), "two values are named `X`")] {
        let found = lab.collect(&lab.kit(), Exit::Code(0), text);
        assert_eq!(benchmarks(&found), [("benchmarks", None)]);
        assert!(found.notes.iter().any(|n| n.contains(reason)), "{:?}", found.notes);
    }
}

#[test]
fn files_and_keys_with_wildcards_are_benchmarks() {
    let place = |path: &str, json: &str| {
        let place = format!("from = \"file\"\npath = \"{{trial_dir}}/{path}\"\njson = \"{json}\"");
        Lab::new(&format!("{SUITE}{}", row("benchmarks", "1", &place)))
    };
    let lab = place("*/new/estimates.json", "/mean/point_estimate");
    for (name, value) in [("parse", "2"), ("print", "8"), ("report", "")] {
        let dir = lab.path("trial").join(name).join("new");
        fs::create_dir_all(&dir).unwrap();
        if !value.is_empty() {
            let text = format!("{{\"mean\": {{\"point_estimate\": {value}}}}}");
            fs::write(dir.join("estimates.json"), text).unwrap();
        }
    }
    let found = lab.collect(&lab.kit(), Exit::Code(0), "");
    let all = [("benchmarks", Some(4.0)), ("parse", Some(2.0)), ("print", Some(8.0))];
    assert_eq!(benchmarks(&found), all);

    let size = "from = \"size\"\npath = \"{trial_dir}/*/new/estimates.json\"";
    let sizes = Lab::new(&format!("{SUITE}{}", row("benchmarks", "B", size)));
    for (name, bytes) in [("a", 2), ("b", 8)] {
        let dir = sizes.path("trial").join(name).join("new");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("estimates.json"), vec![b' '; bytes]).unwrap();
    }
    let found = sizes.collect(&sizes.kit(), Exit::Code(0), "");
    let all = [("benchmarks", Some(4.0)), ("a", Some(2.0)), ("b", Some(8.0))];
    assert_eq!(benchmarks(&found), all);

    let lab = place("out.json", "/benchmarks/*/time");
    let text = r#"{"benchmarks": [{"name": "a", "time": 3}, {"time": 12}, {"name": "c"}]}"#;
    fs::write(lab.path("trial/out.json"), text).unwrap();
    let found = lab.collect(&lab.kit(), Exit::Code(0), "");
    let all = [("benchmarks", None), ("a", Some(3.0)), ("1", Some(12.0)), ("c", None)];
    assert_eq!(benchmarks(&found), all);
    assert!(found.notes[0].contains("`c`: there is no number at"), "{:?}", found.notes);
}

#[test]
fn the_output_of_a_tool_is_read_by_its_reader() {
    let rows = [
        row("benchmarks", "s", "from = \"result\""),
        row("x", "s", "from = \"result\"\nitem = \"BenchmarkX-2\""),
        row("unit", "ms", "from = \"result\"\nitem = \"BenchmarkX-2\""),
        row("gone", "s", "from = \"result\"\nitem = \"BenchmarkZ-2\""),
    ]
    .concat();
    let kit = |reader: &str| format!("{SUITE}[result]\nreader = \"{reader}\"\n{rows}");
    let lab = Lab::new(&kit("go-bench"));
    let found = lab.collect(&lab.kit(), Exit::Code(0), GO);
    let of = |name: &str| found.metrics.iter().find(|m| m.name == name).and_then(|m| m.value);
    let near = |name: &str, value: f64| of(name).is_some_and(|v| (v / value - 1.0).abs() < 1e-9);
    assert!(near("benchmarks", 2e-6) && near("x", 4e-6), "{:?}", found.metrics);
    assert!(near("BenchmarkY/a-b-2", 1e-6));
    assert_eq!((of("unit"), of("gone")), (None, None));
    let notes = found.notes.join("\n");
    assert!(notes.contains("`BenchmarkX-2` is in s, not in ms"), "{notes}");
    assert!(notes.contains("the result has no `BenchmarkZ-2`; it has BenchmarkX-2"), "{notes}");
    let found = lab.collect(&lab.kit(), Exit::Code(0), "no benchmark\n");
    assert!(matches!(found.validation, ValidationResult::Failed { .. }), "{found:?}");

    let mistakes = |kit: &str| {
        let lab = Lab::new(kit);
        let found = check(&lab.path("tiny"));
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let all = mistakes(&kit("no-such"));
    assert!(all.contains("there is no reader `no-such`; there are spec-cpu, hyperfine"), "{all}");
    let all = mistakes(&kit("spec-cpu"));
    assert!(all.contains("the reader `spec-cpu` needs `path`"), "{all}");
    assert!(all.contains("`BenchmarkX-2` is no number of spec-cpu"), "{all}");
    let other = row("time", "s", "from = \"stdout\"\npattern = \"{name} {value}\"");
    assert!(mistakes(&format!("{SUITE}{other}")).contains("is called `benchmarks`"));
}

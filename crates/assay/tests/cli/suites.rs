//! Output of benchmark tools in trials: every benchmark is a metric, and a gate names those that
//! became worse. The tools are scripts that print what the real ones do, with known values.

use std::os::unix::fs::PermissionsExt as _;

use assay_testing::git;
use serde_json::Value;

use crate::common::{Done, World, json};

/// A Go suite of four benchmarks. Values vary by block, and `Parse/large` is slower by the factor
/// in the file `slow`, in percent.
const GO: &str = r#"#!/bin/sh
noise=$(( ${ASSAY_BLOCK:-0} * 7 % 5 ))
slow=$(cat "$(dirname "$0")/slow")
echo "goos: linux"
for name in Parse/small Parse/large Print Seek; do
  base=1000
  [ $name = Parse/large ] && base=$(( 1000 * slow / 100 ))
  echo "Benchmark$name-2   1000   $(( base * 10 + noise )) ns/op   16 B/op   1 allocs/op"
done
echo PASS
"#;

fn script(world: &World, name: &str, text: &str) {
    let path = world.write(name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn go_world() -> World {
    let world = World::new();
    script(&world, "bench.sh", GO);
    world.write("slow", "100");
    world
}

fn metrics(ran: &Done, world: &World) -> Value {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    json(&world.run(&["archive", "show", "last", "--json"]).stdout)["records"][0]["metrics"].clone()
}

fn value(metrics: &Value, name: &str) -> Option<f64> {
    metrics.as_array().unwrap().iter().find(|m| m["name"] == name)?["value"].as_f64()
}

#[test]
fn each_benchmark_is_a_metric_with_the_value_that_an_import_reads() {
    let world = go_world();
    for reader in ["go-bench", "auto"] {
        let ran = world.run(&["run", "-b", "3", "--reader", reader, "--", "./bench.sh"]);
        let live = metrics(&ran, &world);
        assert_eq!(value(&live, "BenchmarkParse/small-2"), Some(1e-5), "{live:#}");
        assert_eq!(value(&live, "BenchmarkParse/small-2: B/op"), Some(16.0));
        assert_eq!(value(&live, "benchmarks").map(|v| (v * 1e9).round()), Some(10_000.0));
        assert!(ran.stdout.contains("BenchmarkPrint-2"), "{}", ran.stdout);
        // A suite sizes its own work, so its wall time decides nothing.
        assert!(!ran.stdout.contains("elapsed of"), "{}", ran.stdout);
    }
    let shown = world.run(&["show"]).stdout;
    assert!(shown.contains("the output was read as go-bench"), "{shown}");
    let text = std::process::Command::new(world.path("bench.sh")).output().unwrap().stdout;
    world.write("out.txt", std::str::from_utf8(&text).unwrap());
    let imported = world.run(&["archive", "import", "out.txt"]);
    let imported = metrics(&imported, &world);
    assert_eq!(imported[0]["value"], 1e-5, "{imported:#}");
    assert_eq!(imported[0]["unit"], "s");
}

#[test]
fn output_that_cannot_be_read_fails_the_trial_with_the_reason() {
    let world = go_world();
    world.write("list.json", r#"[{"name": "a", "unit": "ms", "value": 1.5}]"#);
    for (reader, command, code, why) in [
        ("go-bench", "sh -c true", 3, "the output is empty"),
        ("auto", "echo nothing to see", 3, "the output is not that of a tool that assay reads"),
        ("go-bench", "printf 'BenchmarkX-2 10 12,5 ns/op\\n'", 3, "`12,5 ns/op` is not a number"),
        ("benchmark-list", "head -c 30 list.json", 3, "EOF while parsing"),
        ("auto", "sh -c './bench.sh; cat list.json'", 3, "could be go-bench, benchmark-list"),
        ("no-such", "true", 2, "invalid value 'no-such' for '--reader <TOOL>'"),
    ] {
        let ran = world.run(&["run", "-b", "1", "--reader", reader, command]);
        let all = format!("{}{}", ran.stdout, ran.stderr).replace("\n  ", " ");
        let shown = world.run(&["show"]).stdout.replace("\n  ", " ");
        assert_eq!(ran.code, code, "{command}: {all}");
        assert!(all.contains(why) || shown.contains(why), "{command}: {all}\n{shown}");
    }
    let ran =
        world.run(&["run", "-b", "1", "--reader", "auto", "--output", "null", "--", "./bench.sh"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("--output keep"), "{}", ran.stderr);
}

#[test]
fn a_file_of_an_earlier_trial_is_not_read_again() {
    let world = World::new();
    world.write("old.json", r#"[{"name": "a", "unit": "ms", "value": 1.5}]"#);
    script(&world, "write.sh", "#!/bin/sh\nsleep 0.01; cp old.json new.json\n");
    let args = ["run", "-b", "1", "--reader", "auto", "--result-file"];
    let stale = world.run(&[&args[..], &["old.json", "--", "true"]].concat());
    assert_eq!(stale.code, 3, "{}", stale.stdout);
    let text = stale.stdout.replace("\n  ", " ");
    assert!(text.contains("did not write old.json in this trial"), "{text}");
    let fresh = world.run(&[&args[..], &["new.json", "--", "./write.sh"]].concat());
    assert_eq!(value(&metrics(&fresh, &world), "a"), Some(1.5e-3));
}

fn repository_of_a_suite(slow: &[&str]) -> World {
    let world = go_world();
    let root = world.path("");
    git(&root, &["init", "-q", "-b", "main"]);
    for (i, slow) in slow.iter().enumerate() {
        world.write("slow", slow);
        world.write("change", &i.to_string());
        git(&root, &["add", "bench.sh", "slow", "change"]);
        git(&root, &["commit", "-qm", &format!("change {i}")]);
    }
    world
}

#[test]
fn a_gate_of_a_suite_names_the_benchmark_that_became_worse() {
    let world = repository_of_a_suite(&["100", "130"]);
    let args = ["gate", "--base", "HEAD~1", "--reader", "auto", "--budget", "60 s"];
    let ran = world.run(&[&args[..], &["--json", "--", "./bench.sh"]].concat());
    assert_eq!(ran.code, 5, "{}{}", ran.stdout, ran.stderr);
    let result = json(&ran.stdout);
    assert_eq!(result["verdict"], "worse");
    assert_eq!(result["runs"].as_array().unwrap().len(), 2, "the suspect was measured again");
    let worse: Vec<&str> = result["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["verdict"] == "worse")
        .map(|c| c["metric"].as_str().unwrap())
        .collect();
    assert_eq!(worse, ["BenchmarkParse/large-2"]);
    let ran = world.run(&[&args[..], &["--markdown", "gate.md", "--", "./bench.sh"]].concat());
    let text = ran.stdout.replace("\n  ", " ");
    let verdict = "1 of 4 benchmarks is worse by more than 2 %, also in fresh trials: Benchmark";
    assert!(text.contains(&format!("{verdict}Parse/large-2 1.29")), "{text}");
    let markdown = std::fs::read_to_string(world.path("gate.md")).unwrap();
    assert!(markdown.contains("| BenchmarkParse/large-2 | 1.29"), "{markdown}");
}

#[test]
fn a_gate_of_an_equal_suite_passes() {
    let world = repository_of_a_suite(&["100", "100"]);
    let ran = world.run(&["gate", "--base", "HEAD~1", "--reader", "auto", "--", "./bench.sh"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let text = ran.stdout.replace("\n  ", " ");
    let verdict = "none of 4 benchmarks is clearly worse by more than 2 %: 4 within it or better";
    assert!(text.contains(verdict), "{text}");
}

#[test]
fn benchmarks_of_one_side_alone_are_listed() {
    let world = World::new();
    for (name, also) in [("a.sh", "old"), ("b.sh", "new")] {
        let line = "\\t10\\t100 ns/op\\n";
        let text = format!("#!/bin/sh\nprintf 'BenchmarkBoth{line}Benchmark_{also}{line}'\n");
        script(&world, name, &text);
    }
    let ran = world.run(&["run", "-b", "4", "--reader", "auto", "--vs", "./b.sh", "--", "./a.sh"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for words in ["new in ./b.sh: Benchmark_new", "gone in ./b.sh: Benchmark_old", "in only one"] {
        assert!(ran.stdout.replace("\n  ", " ").contains(words), "{words}: {}", ran.stdout);
    }
    let world = repository_of_a_suite(&["100", "100"]);
    script(&world, "bench.sh", &GO.replace("Seek", "Find"));
    git(&world.path(""), &["commit", "-qam", "rename"]);
    let gate = ["gate", "--base", "HEAD~1", "--reader", "auto", "--markdown", "-", "--"];
    let ran = world.run(&[&gate[..], &["./bench.sh"]].concat());
    let markdown = ran.stdout;
    assert!(ran.code == 0 && markdown.starts_with("<!--"), "without a report: {markdown}");
    for words in ["new in HEAD", ": BenchmarkFind-2\n", "gone in HEAD", ": BenchmarkSeek-2\n"] {
        assert!(markdown.contains(words), "{words}: {markdown}");
    }
    assert!(markdown.matches("warning: ").count() <= 1, "{markdown}");
}

#[test]
fn a_suite_that_takes_longer_than_its_budget_is_judged_by_what_it_has() {
    let world = repository_of_a_suite(&["100", "130"]);
    let args = ["gate", "--base", "HEAD~1", "--budget", "20 s", "--prepare", "sleep 0.4", "--json"];
    let ran = world.run(&[&args[..], &["--reader", "auto", "--", "./bench.sh"]].concat());
    let gate = json(&ran.stdout);
    assert_eq!((ran.code, gate["verdict"].as_str()), (5, Some("worse")), "{gate} {}", ran.stderr);
    assert_eq!(gate["runs"].as_array().unwrap().len(), 2, "measured again: {gate}");
}

#[test]
fn a_mean_without_a_benchmark_that_is_0_in_some_trials_is_withheld() {
    let world = World::new();
    for name in ["a.sh", "b.sh"] {
        let line = "\\t10\\t%s ns/op\\n";
        let values = "100 $((ASSAY_BLOCK % 2))";
        let text = format!("#!/bin/sh\nprintf 'BenchmarkA{line}BenchmarkB{line}' {values}\n");
        script(&world, name, &text);
    }
    let ran = world.run(&["run", "-b", "6", "--reader", "auto", "--vs", "./b.sh", "--", "./a.sh"]);
    let text = ran.stdout.replace("\n  ", " ");
    assert!(text.contains("6 of 12 trials lack benchmarks that others have"), "{text}");
}

#[test]
fn a_printed_number_decides_and_is_read_whole() {
    let world = World::new();
    for (pattern, printed, expected) in [
        ("took {value} ms", "took 12.5 ms", Some((0.0125, "s"))),
        (r"took ([0-9.]+) ms", "took 12.5 ms", Some((0.0125, "s"))),
        ("rate: {value} MB/s", "rate:   3e2 MB/s", Some((3e8, "B/s"))),
        ("score {value}", "score 7", Some((7.0, "1"))),
        ("took {value}", "took 2 minutes", Some((120.0, "s"))),
        ("took {value} ms", "took 12,5 ms", None),
        (r"took ([0-9.]+)", "took 12,5 ms", None),
        ("{value} ms", "took 1 ms and 2 ms", None),
        ("took {value} ms", "nothing", None),
    ] {
        let line = format!("echo '{printed}'");
        let ran = world.run(&["run", "-b", "1", "--metric-from", pattern, &line]);
        let Some((value, unit)) = expected else {
            let why = ran.stdout.replace("\n  ", " ");
            assert_eq!(ran.code, 3, "{pattern}: {why}");
            assert!(why.contains("`printed` is missing: "), "{pattern}: {why}");
            continue;
        };
        let metrics = metrics(&ran, &world);
        let printed = metrics.as_array().unwrap().iter().find(|m| m["name"] == "printed").unwrap();
        let found = printed["value"].as_f64().unwrap();
        assert!((found / value - 1.0).abs() < 1e-12, "{pattern}: {found}");
        assert_eq!(printed["unit"], unit, "{pattern}");
    }
    let (took, weeks) = ("took {value}", "echo took 2 weeks");
    let mixed =
        world.run(&["run", "-b", "3", "--metric-from", took, "--vs", weeks, "echo took 5 s"]);
    assert_eq!(mixed.code, 3, "{}{}", mixed.stdout, mixed.stderr);
    let said = mixed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("and in the first trial in `"), "{said}");
    let b = |unit: &str| format!("{{\"name\":\"b\",\"unit\":\"{unit}\",\"value\":3}}");
    world.write("one", &format!("[{},{}]", b("foo").replace("\"b\"", "\"a\""), b("foo")));
    world.write("two", &format!("[{}]", b("bar")));
    let mixed = world.run(&["run", "-b", "3", "--reader=auto", "--vs", "cat two", "cat one"]);
    let said = mixed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`b` is in `"), "{said}");
    for pattern in ["{value}", "no number", "(a)(b)", "("] {
        let ran = world.run(&["run", "-b", "1", "--metric-from", pattern, "--", "true"]);
        assert_eq!(ran.code, 2, "{pattern}: {}", ran.stderr);
    }
}

#[test]
fn output_is_checked_in_each_trial() {
    let world = World::new();
    world.write("good", "42\n");
    for (option, check, code) in [
        ("--expect", "good", 0),
        ("--check", "grep -qx 42", 0),
        ("--check", "grep -q 43", 3),
        ("--expect", "missing", 2),
    ] {
        let ran = world.run(&["run", "-b", "1", option, check, "--", "echo", "42"]);
        assert_eq!(ran.code, code, "{option} {check}: {}{}", ran.stdout, ran.stderr);
    }
    let wrong = world.run(&["run", "-b", "1", "--expect", "good", "--", "echo", "43"]);
    assert_eq!(wrong.code, 3);
    assert!(
        wrong.stdout.replace("\n  ", " ").contains("the output differs from"),
        "{}",
        wrong.stdout
    );
}

#[test]
fn placeholders_are_factors() {
    let world = World::new();
    let ran = world.run(&[
        "run",
        "-b",
        "3",
        "--set",
        "n=1,2",
        "--prepare",
        "rm -f out-{n}",
        "--",
        "touch",
        "out-{n}",
    ]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("n=1") && ran.stdout.contains("n=2"), "{}", ran.stdout);
    assert!(world.path("out-1").exists() && world.path("out-2").exists());
    let unknown = world.run(&["run", "-b", "1", "--set", "m=1,2", "--", "true"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("write its name in braces"), "{}", unknown.stderr);
    let shell = world.run(&["run", "-b", "1", "--shell", "--set", "f=a;b", "--", "echo {f}"]);
    assert_eq!(shell.code, 2, "{}", shell.stderr);
}

#[test]
fn margins_and_directions_are_those_of_each_benchmark() {
    let world = go_world();
    world.write("slow", "110");
    script(&world, "old.sh", &GO.replace("slow / 100", "1"));
    let file = |rules: &str| {
        format!(
            "name = \"suite\"\nworkload = \"command\"\n[result]\nreader = \"go-bench\"\n\
             [factors]\ncommand = [\"./old.sh\", \"./bench.sh\"]\n[design]\nblocks = 6\n\
             [compare]\nmargin = \"2 %\"\n{rules}"
        )
    };
    for (rules, verdict) in [
        ("", "worse"),
        ("[compare.metrics.\"*/large*\"]\nmargin = \"20 %\"\n", "equivalent"),
        ("[compare.metrics.\"BenchmarkParse/*\"]\nbetter = \"higher\"\n", "better"),
        // The longest name counts.
        (
            "[compare.metrics.\"*\"]\nmargin = \"20 %\"\n\
             [compare.metrics.\"BenchmarkParse/large-2\"]\nmargin = \"3 %\"\n",
            "worse",
        ),
    ] {
        world.write("suite.toml", &file(rules));
        let ran = world.run(&["run", "--json", "suite.toml"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let family = json(&ran.stdout)["analysis"]["family"].clone();
        let of = |name: &str| {
            family.as_array().unwrap().iter().find(|c| c["metric"] == name).unwrap()["verdict"]
                .clone()
        };
        assert_eq!(of("BenchmarkParse/large-2"), verdict, "{rules}");
    }
    world.write("suite.toml", &file("[compare.metrics.\"*\"]\nmargin = \"2\"\n"));
    let ran = world.run(&["run", "suite.toml"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("the margin is `2`"), "{}", ran.stderr);
}

/// A suite whose benchmarks and times in ns are the lines of the file `times`.
const LISTED: &str = r#"#!/bin/sh
while read -r name ns; do
  echo "Benchmark$name   1000   $(( ns + ${ASSAY_BLOCK:-0} * 7 % 5 )) ns/op"
done < times
"#;

/// Returns a repository with a commit for each content of the file `times`; the first has the tag
/// `v1`.
fn repository_of_times(commits: &[String]) -> World {
    let world = World::new();
    let root = world.path("");
    script(&world, "bench.sh", LISTED);
    git(&root, &["init", "-q", "-b", "main"]);
    for (i, times) in commits.iter().enumerate() {
        world.write("times", times);
        git(&root, &["add", "bench.sh", "times"]);
        git(&root, &["commit", "-q", "--allow-empty", "-m", &format!("change {i}")]);
        if i == 0 {
            git(&root, &["tag", "v1"]);
        }
    }
    let experiment = "name = \"suite\"\nworkload = \"command\"\n[params]\n\
                      command = \"./bench.sh\"\nreader = \"go-bench\"\n[source]\n\
                      [observe]\nmonitors = []\n[on]\nconfirmed = \"./hook.sh\"\n";
    world.write("suite.toml", experiment);
    world
}

fn history(world: &World, more: &[&str]) -> Done {
    let args = ["history", "suite.toml", "--rev", "v1..main", "--quiet", "--blocks", "3"];
    world.run(&[&args[..], more].concat())
}

#[test]
fn a_history_of_a_suite_names_the_benchmark_that_changed_and_calls_its_hook_once() {
    let times = |i: usize| {
        let a = if i < 4 { 10_000 } else { 13_000 };
        let other = if i < 6 { "Old" } else { "New" };
        format!("A {a}\nB 20000\nC 30000\nD 40000\n{other} 50000\n")
    };
    let world = repository_of_times(&(0..9).map(times).collect::<Vec<_>>());
    let filled = history(&world, &["--fill"]);
    assert_eq!(filled.code, 0, "{}{}", filled.stdout, filled.stderr);
    let text = filled.stdout.replace("\n    ", " ");
    for part in [
        "BenchmarkA: suspected: worse by +30.0 %",
        "4 of 5 series have no change",
        "BenchmarkOld: gone or without a value after",
        "BenchmarkNew: new at",
        "not in the reference v1, so without a series",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("together"), "{text}");
    // One benchmark of the same runs, with its points.
    let one = history(&world, &["--metric", "BenchmarkB"]);
    assert!(one.code == 0 && one.stdout.contains("9 of 9 revisions"), "{}", one.stdout);
    // A hook that fails is a warning and is called again.
    let called = || std::fs::read_to_string(world.path("called")).unwrap_or_default();
    script(&world, "hook.sh", "#!/bin/sh\necho too bad; exit 3\n");
    let failed = history(&world, &["--confirm"]);
    let why = failed.stderr.replace("\n  ", " ");
    assert_eq!(failed.code, 5, "{}{}", failed.stdout, failed.stderr);
    assert!(why.contains("exit code 3") && why.contains("too bad"), "{why}");
    let hook = "#!/bin/sh\n(cat; echo; echo $ASSAY_METRIC $ASSAY_SERIES) >> called\n";
    script(&world, "hook.sh", hook);
    let runs = world.runs().len();
    for _ in 0..2 {
        let confirmed = history(&world, &["--confirm", "-o", "h.md"]);
        assert!(confirmed.code == 5 && confirmed.stderr.is_empty(), "{}", confirmed.stderr);
    }
    assert_eq!(world.runs().len(), runs, "a confirmed change is not measured again");
    let (event, rest) = called().split_once('\n').map(|(a, b)| (json(a), b.to_owned())).unwrap();
    assert_eq!(rest, "BenchmarkA 1\n", "called once");
    let series = event["series"].as_array().unwrap();
    assert_eq!((series.len(), &series[0]["worse"]), (1, &Value::Bool(true)), "{event:#}");
    assert!((series[0]["ratio"].as_f64().unwrap() - 1.3).abs() < 0.01, "{event:#}");
    let run = event["run"].as_str().unwrap();
    let records = json(&world.run(&["archive", "show", run, "--json"]).stdout);
    assert!(!records.to_string().contains("hook.sh"), "runs do not record hooks");
    let markdown = std::fs::read_to_string(world.path("h.md")).unwrap();
    assert!(markdown.contains("- BenchmarkA: confirmed: worse by"), "{markdown}");
}

#[test]
fn a_move_of_all_benchmarks_is_one_statement_and_is_confirmed_by_one_experiment() {
    let times = |i: usize| {
        let scale = if i < 4 { 100 } else { 120 };
        let line = |n: usize| format!("B{n} {}\n", (n + 100) * scale);
        (0..7).map(line).collect::<String>()
    };
    let world = repository_of_times(&(0..8).map(times).collect::<Vec<_>>());
    script(&world, "hook.sh", "#!/bin/sh\necho $ASSAY_SERIES >> called\n");
    assert_eq!(history(&world, &["--fill"]).code, 0);
    let runs = world.runs().len();
    let shown = history(&world, &["--confirm"]);
    let text = shown.stdout.replace("\n    ", " ");
    assert_eq!(shown.code, 5, "{text}{}", shown.stderr);
    assert!(text.contains("7 of 7 series rise together at"), "{text}");
    assert!(text.contains("a fresh experiment confirmed 7 of them"), "{text}");
    assert!(!text.contains("BenchmarkB0"), "no list of seven alarms: {text}");
    assert_eq!(world.runs().len(), runs + 1, "one experiment for all");
    assert_eq!(std::fs::read_to_string(world.path("called")).unwrap(), "7\n");
    let shown = json(&history(&world, &["--json"]).stdout);
    assert_eq!(shown["together"][0]["series"], 7, "{shown:#}");
    assert_eq!(shown["series"].as_array().unwrap().len(), 7);
}

//! A suite of small programs, from the command line: speed and rate, base and peak, its mean, a
//! wrong output, a copy that fails, the reference and the form that rules judge.

use std::fs;

use crate::common::mini_suite::world;
use serde_json::Value;

fn json(done: &crate::common::Done) -> Value {
    serde_json::from_str(&done.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", done.stdout, done.stderr))
}

#[test]
fn all_members_make_one_score_each_setting() {
    let (world, mini) = world("sleep 0.04; echo sum 6");
    let settings = ["--set", "size=ref", "--set", "tuning=base,peak", "--blocks", "3", "--json"];
    let done = world.run(&[&["run", mini.as_str()], &settings[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let result = json(&done);
    assert_eq!(result["records"].as_array().unwrap().len(), 12, "2 members, 2 tunings, 3 blocks");
    let suite = &result["analysis"]["suite"];
    let score = &suite["scores"][0];
    let ratio = |m: usize| score["members"][m]["ratio"].as_f64().unwrap();
    let geomean = score["geomean"].as_f64().unwrap();
    assert!((geomean - (ratio(0) * ratio(1)).sqrt()).abs() < 1e-9);
    let total = score["total_s"].as_f64().unwrap();
    assert!(total > 0.06 && score["interval"].is_object(), "{score}");
    let comparison = &suite["comparisons"][0];
    assert!(comparison["geomean"]["ratio"].is_number() && comparison["best"].is_array());
    // No member is compared with another member.
    for c in result["analysis"]["comparisons"].as_array().unwrap() {
        let member = |id: &Value| {
            let all = result["plan"]["treatments"].as_array().unwrap();
            all.iter().find(|t| t["id"] == *id).unwrap()["params"]["member"].clone()
        };
        assert_eq!(member(&c["baseline"]), member(&c["treatment"]));
    }
    let reference = world.run(&["cpu", "reference", "last"]);
    let table = reference.stdout.split_once("[reference.times.ref]\nalpha = ").unwrap().1;
    let alpha: f64 = table.lines().next().unwrap().parse().unwrap();
    assert!(alpha > 0.0, "{}", reference.stdout);
    let file = world.path("result.json");
    fs::write(&file, world.run(&["cpu", "result", "last"]).stdout).unwrap();
    let judged = world.run(&["rules", "judge", "cpu", &file.display().to_string(), "--json"]);
    let verdict = json(&judged);
    let of = |id: &str| {
        let rules = verdict["rules"].as_array().unwrap();
        rules.iter().find(|r| r["id"] == id).unwrap()["result"].as_str().unwrap().to_owned()
    };
    for (id, expected) in
        [("C2", "fail"), ("C3", "pass"), ("C4", "pass"), ("C5", "pass"), ("C15", "fail")]
    {
        assert_eq!(of(id), expected, "{id}: {verdict}");
    }
}

/// Runs a design with all blocks of base before those of peak. If the machine drifts meanwhile, the
/// run is rightly invalid (F31, interleaved); then it is repeated.
fn without_drift(world: &crate::common::World, arguments: &[&str]) -> crate::common::Done {
    let drifted = |done: &crate::common::Done| {
        let text = format!("{}{}", done.stdout, done.stderr);
        (done.code == 4 && text.contains("F31")).then(|| "the machine drifted".to_owned())
    };
    let done = assay_testing::undisturbed(|| world.run(arguments), drifted);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    done
}

#[test]
fn a_result_is_reportable_but_for_what_only_its_owner_knows() {
    let (world, mini) = world("sleep 0.04; echo sum 6");
    let suite = world.path("mini/suite.toml");
    let described = fs::read_to_string(&suite).unwrap() + "\"-O3\" = \"optimises more\"\n";
    fs::write(&suite, described).unwrap();
    let compiler = "[[param]]\nname = \"cc\"\ntype = \"text\"\ndefault = \"cc\"\n\
                    help = \"compiler\"\n\
                    [[need]]\nprogram = \"{cc}\"\npackage = \"gcc\"\n";
    for member in ["alpha", "beta"] {
        let kit = world.path(&format!("mini/{member}/kit.toml"));
        let text = fs::read_to_string(&kit).unwrap();
        fs::write(&kit, text.replace("[prepare]", &format!("{compiler}[prepare]"))).unwrap();
    }
    let experiment = world.path("reportable.toml");
    let text = |warmups: &str| {
        format!(
            "name = \"reportable\"\nworkload = {mini:?}\n[params]\nsize = \"ref\"\n[factors]\n\
             tuning = [\"base\", \"peak\"]\n[design]\nblocks = 3\ngroup_by = \"tuning\"\n\
             order = \"sequential\"\n{warmups}\n"
        )
    };
    fs::write(&experiment, text("warmups = [{ size = \"test\" }, { size = \"train\" }]")).unwrap();
    let file = experiment.display().to_string();
    let done = without_drift(&world, &["run", &file, "--json"]);
    let result = json(&done);
    let records = result["records"].as_array().unwrap();
    let sizes: Vec<&str> =
        records.iter().map(|r| r["params"]["size"].as_str().unwrap_or("ref")).collect();
    let group = ["test", "test", "train", "train", "ref", "ref", "ref", "ref", "ref", "ref"];
    assert_eq!(sizes, [group, group].concat(), "2 members, base and then peak");
    assert!(records.iter().all(|r| r["warmup"] == r["params"].is_object()));
    let (result, facts) = (world.path("result.json"), world.path("facts.toml"));
    let verdict = |with: &[&str]| {
        fs::write(&result, world.run(&[&["cpu", "result", "last"], with].concat()).stdout).unwrap();
        json(&world.run(&["rules", "judge", "cpu", &result.display().to_string(), "--json"]))
    };
    let of = |verdict: &Value, outcome: &str| -> Vec<String> {
        let rules = verdict["rules"].as_array().unwrap();
        let found = rules.iter().filter(|r| r["result"] == outcome);
        found.map(|r| r["id"].as_str().unwrap().to_owned()).collect()
    };
    let bare = verdict(&[]);
    assert_eq!(of(&bare, "fail"), ["C16"], "{bare}");
    assert_eq!(of(&bare, "unknown"), ["C13", "C17", "C20"], "{bare}");
    let template = world.run(&["cpu", "facts", "last"]).stdout;
    let mut filled = template.replace("= \"\"", "= \"stated\"");
    for (key, answer) in
        [("parts_available", true), ("optimiser_remembers", false), ("published", false)]
    {
        filled = filled.replace(&format!("# {key} = false"), &format!("{key} = {answer}"));
    }
    fs::write(&facts, &filled).unwrap();
    let with = ["--facts", &facts.display().to_string()];
    let whole = verdict(&with);
    assert_eq!(whole["verdict"], "reportable", "{whole}\n{filled}");
    // Without the test and train inputs, the result is not reportable.
    fs::write(&experiment, text("warmups = [{ size = \"test\" }]")).unwrap();
    without_drift(&world, &["run", &file]);
    let less = verdict(&with);
    assert_eq!((of(&less, "fail"), &less["verdict"]), (vec!["C2".into()], &Value::from("invalid")));
    // The tools set the number of threads, so the experiment must not.
    let threads = "warmups = [{ size = \"test\" }, { size = \"train\" }]\n[controls]\n\
                   \"env.OMP_NUM_THREADS\" = \"2\"";
    fs::write(&experiment, text(threads)).unwrap();
    without_drift(&world, &["run", &file]);
    assert_eq!(of(&verdict(&with), "fail"), ["C11"]);
    for (wrong, says) in [("sizes = \"test\"", "did you mean `size`?"), ("size = \"big\"", "test")]
    {
        fs::write(&experiment, text(&format!("warmups = [{{ {wrong} }}]"))).unwrap();
        let refused = world.run(&["plan", &file]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
}

#[test]
fn all_of_base_can_run_before_all_of_peak() {
    let (world, mini) = world("sleep 0.04; echo sum 6");
    let settings = ["--set", "size=ref", "--set", "tuning=base,peak", "--group-by", "tuning"];
    let arguments = |more: &[&'static str]| [&["run", mini.as_str()], &settings[..], more].concat();
    let result = json(&without_drift(&world, &arguments(&["--blocks", "3", "--json"])));
    let plan = result["plan"]["trials"].as_array().unwrap();
    let tuning = |trial: &Value| {
        let all = result["plan"]["treatments"].as_array().unwrap();
        let of = all.iter().find(|t| t["id"] == trial["treatment"]).unwrap();
        of["params"]["tuning"].as_str().unwrap().to_owned()
    };
    let order: Vec<String> = plan.iter().map(tuning).collect();
    assert_eq!(order[..6], ["base"; 6]);
    assert_eq!(order[6..], ["peak"; 6]);
    let blocks: Vec<u64> = plan.iter().map(|t| t["block"].as_u64().unwrap()).collect();
    assert_eq!(blocks, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    // Each tuning has its interval; they share no block, and drift between them is reported.
    let suite = &result["analysis"]["suite"];
    assert!(suite["scores"].as_array().unwrap().iter().all(|s| s["interval"].is_object()));
    let comparison = &suite["comparisons"][0]["geomean"];
    assert_eq!(comparison["method"], "welch", "{comparison}");
    assert!(comparison["ratio"].is_number(), "{comparison}");
    let found = result["analysis"]["findings"].as_array().unwrap();
    assert!(found.iter().any(|f| f["id"] == "F31"), "{found:?}");
    let file = world.path("result.json");
    fs::write(&file, world.run(&["cpu", "result", "last"]).stdout).unwrap();
    let judged =
        json(&world.run(&["rules", "judge", "cpu", &file.display().to_string(), "--json"]));
    let first = judged["rules"].as_array().unwrap().iter().find(|r| r["id"] == "C1").unwrap();
    assert_eq!(first["result"], "pass", "{first}");
    // Without a number of blocks, the end of the first group is unknown.
    let open = world.run(&arguments(&[]));
    assert_eq!(open.code, 2);
    assert!(open.stderr.contains("design.blocks"), "{}", open.stderr);
    let member =
        world.run(&["run", &mini, "--set", "size=ref", "--group-by", "member", "--blocks", "3"]);
    assert_eq!(member.code, 2);
    assert!(member.stderr.contains("same blocks"), "{}", member.stderr);
}

#[test]
fn copies_begin_together_and_their_work_adds_up() {
    let (world, mini) = world("sleep 0.04; echo sum 6");
    let settings =
        ["--set", "size=ref", "--set", "kind=rate", "--set", "copies=4", "--blocks", "1", "--json"];
    let done = world.run(&[&["run", mini.as_str()], &settings[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    for record in json(&done)["records"].as_array().unwrap() {
        let metric = |name: &str| {
            let all = record["metrics"].as_array().unwrap();
            all.iter().find(|m| m["name"] == name).unwrap()["value"].as_f64().unwrap()
        };
        let reference =
            if metric("elapsed") > 0.039 && metric("ratio") * metric("time_per_copy") > 0.15 {
                0.2
            } else {
                0.1
            };
        assert!((metric("ratio") - 4.0 * reference / metric("elapsed")).abs() < 1e-6);
        assert!((metric("time_per_copy") - metric("elapsed") / 4.0).abs() < 1e-9);
        assert!(metric("start_spread") >= 0.0 && metric("start_spread") < metric("elapsed"));
    }
}

#[test]
fn wrong_output_of_one_copy_voids_the_result_and_says_where() {
    let wrong = "case $PWD in */copy-2) echo sum 7;; *) echo sum 6;; esac";
    let (world, mini) = world(wrong);
    let settings =
        ["--set", "size=ref", "--set", "kind=rate", "--set", "copies=2", "--blocks", "1", "--json"];
    let done = world.run(&[&["run", mini.as_str()], &settings[..]].concat());
    assert_eq!(done.code, 3, "{}", done.stderr);
    let result = json(&done);
    let beta =
        result["records"].as_array().unwrap().iter().find(|r| r["outcome"] == "invalid").unwrap();
    assert!(beta["error"].as_str().unwrap().contains("copy 2 of 2"), "{beta}");
    let score = &result["analysis"]["suite"]["scores"][0];
    assert!(score["geomean"].is_null() && score["members"][1]["wrong"] == true, "{score}");
}

#[test]
fn a_copy_that_fails_fails_the_trial_with_its_own_words() {
    let (world, mini) = world("echo no such luck >&2; exit 7");
    let settings = ["--set", "size=ref", "--set", "member=beta", "--blocks", "1", "--json"];
    let done = world.run(&[&["run", mini.as_str()], &settings[..]].concat());
    assert_eq!(done.code, 3, "{}", done.stderr);
    let error = json(&done)["records"][0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("copy 1 of 1") && error.contains("exit code 7"), "{error}");
    assert!(error.contains("no such luck"), "{error}");
}

#[test]
fn what_cannot_be_is_an_error_before_anything_runs() {
    let (world, mini) = world("echo sum 6");
    for (settings, printed) in [
        (["--set", "toolchain=icc"], "use gcc"),
        (["--set", "copies=2"], "set `kind` to rate"),
        (["--set", "member=alfa"], "it takes one of alpha, beta"),
    ] {
        let done = world.run(&[&["run", mini.as_str()], &settings[..]].concat());
        assert_eq!(done.code, 2, "{}", done.stderr);
        // Errors are wrapped at 80 columns.
        let text = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(printed), "{text}");
    }
    assert!(world.runs().is_empty());
}

//! The checks of claims, from the command line: posts, landscapes, comparisons, suites and runs
//! with power. Each check has an input on which it fires, one on which it passes and one that it
//! cannot evaluate.

use crate::common::World;
use crate::common::says::{Says, json, landscape, refusal};
use serde_json::Value;

const HEAD: &str = "+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n";

/// Returns the severity and message of each finding of a check.
fn printed(findings: &Value, id: &str) -> Vec<(String, String)> {
    let all = findings.as_array().unwrap_or_else(|| panic!("no findings: {findings}"));
    let text = |f: &Value, key: &str| f[key].as_str().unwrap().to_owned();
    let own = all.iter().filter(|f| f["id"] == id);
    own.map(|f| (text(f, "severity"), text(f, "message"))).collect()
}

/// Returns the outcome of a check: `passes`, `cannot check`, or the severity of its finding.
fn outcome(found: &[(String, String)]) -> String {
    match found {
        [] => "passes".to_owned(),
        [(_, text), ..] if text.starts_with("cannot check") => "cannot check".to_owned(),
        [(severity, _), ..] => severity.clone(),
    }
}

/// Publishes a post, and returns its findings even if it is refused.
fn post(world: &World, body: &str, more: &[&str]) -> Value {
    world.write("p.md", &format!("{HEAD}{body}\n"));
    let _ = std::fs::remove_dir_all(world.path("page"));
    let done =
        world.run(&[&["publish", "p.md", "-o", "page", "--withhold", "--json"], more].concat());
    if done.code == 0 {
        return json(&done.stdout)["findings"].clone();
    }
    assert_eq!(done.code, 4, "{}", done.stderr);
    // A refusal prints its findings on standard error; a page with withheld numbers has them all.
    match std::fs::read_to_string(world.path("page/post.json")) {
        Ok(text) => json(&text)["findings"].clone(),
        Err(_) => refusal(&done.stderr),
    }
}

const RUN: &str = "+++\ntitle = \"T\"\n[runs.own]\nrun = \"last\"\nexperiment = \"x.toml\"\n+++\n";

/// Returns the findings of a post about the last run.
fn of_post(world: &World, body: &str) -> Value {
    world.write("r.md", &format!("{RUN}{{{{#run own}}}}{body}\n{{{{/run}}}}\n"));
    let _ = std::fs::remove_dir_all(world.path("page"));
    let done = world.run(&["publish", "r.md", "-o", "page", "--json"]);
    match (done.code, std::fs::read_to_string(world.path("page/post.json"))) {
        (0, _) => json(&done.stdout)["findings"].clone(),
        // A number of the run was withheld.
        (4, Ok(text)) => json(&text)["findings"].clone(),
        (4, Err(_)) => refusal(&done.stderr),
        _ => panic!("{}", done.stderr),
    }
}

#[test]
fn a_ratio_that_shows_no_direction_is_marked() {
    let world = World::new();
    let done = world.run(&[
        "run",
        "--blocks",
        "6",
        "--quiet",
        "--vs",
        "sleep 0.02",
        "--",
        "sleep",
        "0.02",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let shown = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    let c = &shown["analysis"]["comparisons"][0];
    let label = |id: &Value| {
        let all = shown["analysis"]["summaries"].as_array().unwrap();
        all.iter().find(|s| s["treatment"] == *id).unwrap()["label"].as_str().unwrap().to_owned()
    };
    let body = format!(
        "{{{{ times(\"own:elapsed@{}\", than=\"own:elapsed@{}\") }}}}.",
        label(&c["treatment"]),
        label(&c["baseline"])
    );
    let found = of_post(&world, &body);
    // Six pairs of one command may differ clearly by chance; the check follows the verdict.
    let expected = if c["verdict"] == "inconclusive" { "warning" } else { "passes" };
    assert_eq!(outcome(&printed(&found, "F34")), expected, "{found}");
}

#[test]
fn numbers_of_a_run_have_intervals_and_no_more_digits_than_those_carry() {
    let world = World::new();
    let run = |blocks: &str| {
        let done = world.run(&["run", "--blocks", blocks, "--quiet", "--", "sleep", "0.02"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    };
    run("6");
    let plain = of_post(&world, "{{ value(\"own:elapsed\") }}");
    assert_eq!(outcome(&printed(&plain, "F32")), "passes", "{plain}");
    assert_eq!(outcome(&printed(&plain, "F45")), "passes", "{plain}");
    let digits = of_post(&world, "{{ value(\"own:elapsed\", digits=9) }}");
    assert_eq!(outcome(&printed(&digits, "F45")), "note", "{digits}");
    run("1");
    let bare = of_post(&world, "{{ value(\"own:elapsed\") }}");
    assert_eq!(outcome(&printed(&bare, "F32")), "invalid", "{bare}");
    let quoted = post(&world, "{{ value(\"t5240-1.6\") }}", &[]);
    assert_eq!(outcome(&printed(&quoted, "F32")), "note", "{quoted}");
}

#[test]
fn posts_of_quoted_results() {
    let world = World::new();
    let of = |body: &str| post(&world, body, &[]);
    let value = "{{ value(\"t5240-1.6\") }}";
    // (check, template, expected outcome)
    let cases = [
        ("F45", format!("{value} is 5% better than the other."), "passes"),
        ("F45", value.to_owned(), "passes"),
        ("F46", "{{ times(\"intrate-6048-base\", than=\"fprate-6048-base\") }}".into(), "invalid"),
        ("F46", "{{ times(\"t5240-1.6\", than=\"p570-4chip\") }}".into(), "passes"),
        ("F43", "{{ mean(\"intrate-*-base\") }}".into(), "invalid"),
        ("F43", "{{ mean([\"t5240-1.6\", \"p570-4chip\"]) }}".into(), "cannot check"),
        ("F43", "{{ sum([\"t5240-1.6\", \"p570-4chip\"]) }}".into(), "passes"),
        ("F48", "{{ per(\"t5240-1.6\", \"core\") }}".into(), "invalid"),
        ("F48", format!("{value}: {{{{ per(\"t5240-1.6\", \"core\") }}}}"), "passes"),
        ("F49", "{{ times(\"t5240-1.6\", than=\"p570-4chip\", per=\"core\") }}".into(), "passes"),
        ("F50", "{{ times(\"t5240-1.6\", than=\"p570-4chip\") }}".into(), "warning"),
        ("F50", "{{ times(\"trap-s10-mean\", than=\"trap-s9-mean\") }}".into(), "cannot check"),
        ("F51", format!("{value}: {{{{ per(\"t5240-1.6\", \"watt\") }}}}"), "warning"),
        (
            "F51",
            "{{ times(\"p570-4chip\", than=\"p570-4chip\", per=\"watt\") }}".into(),
            "cannot check",
        ),
        ("F56", "{{ rank(\"t5240-1.6\", in=\"specjbb2005\") }}".into(), "passes"),
        ("F57", value.to_owned(), "passes"),
        ("F58", value.to_owned(), "warning"),
        ("F58", "{{ value(\"trap-s9-mean\") }}".into(), "passes"),
    ];
    for (id, body, expected) in cases {
        let found = of(&body);
        assert_eq!(outcome(&printed(&found, id)), expected, "{id}: {body}: {found}");
    }
    world.write("u.md", "+++\ntitle = \"T\"\n+++\n{{ rank(\"t5240-1.6\", in=\"specjbb2005\") }}\n");
    let undated = world.run(&["publish", "u.md", "-o", "u"]);
    assert_eq!(undated.code, 4);
    assert!(
        undated.stderr.contains("F56") && undated.stderr.contains("as of when"),
        "{}",
        undated.stderr
    );
    world.write(
        "l.md",
        "+++\ntitle = \"T\"\nas_of = \"2009-01-01\"\n+++\n{{ value(\"t5240-1.6\") }}\n",
    );
    let later = world.run(&["publish", "l.md", "-o", "l", "--json"]);
    assert_eq!(
        outcome(&printed(&json(&later.stdout)["findings"], "F57")),
        "warning",
        "{}",
        later.stdout
    );
}

#[test]
fn denominators_watts_and_prices_of_a_landscape() {
    let world = World::new();
    let head = "id,source,benchmark,metric,unit,higher_is_better,system,cores,counted,watts,\
        watts_source,price,currency,price_date,price_scope,price_terms,price_discount,\
        price_support_years,value\n";
    let full = "USD,2026-01-01,server;memory,public,0,3";
    let of = |rows: &str, per: &str| landscape(&world, &format!("{head}{rows}"), &["--per", per]);
    let sound = format!(
        "a,s,B,m,u,true,A,4,,300,wall,10,{full},100\nb,s,B,m,u,true,B,8,,350,wall,30,{full},150\n"
    );
    let mut cases = vec![
        ("F49", sound.clone(), "core", "passes"),
        ("F49", sound.replace(",8,,350", ",8,used,350"), "core", "invalid"),
        ("F49", sound.replace(",8,,350", ",,,350"), "core", "cannot check"),
        ("F51", sound.clone(), "watt", "passes"),
        ("F51", sound.replace("350,wall", "350,tdp"), "watt", "invalid"),
        ("F51", sound.replace("350,wall", "350,platform"), "watt", "invalid"),
        ("F51", sound.replace(",wall", ","), "watt", "warning"),
        ("F51", sound.replace("350,wall", ","), "watt", "cannot check"),
        ("F52", sound.clone(), "price", "passes"),
        ("F52", sound.replace("2026-01-01", ""), "price", "invalid"),
        (
            "F52",
            sound.replace("server;memory,public,0,3,150", "server,public,0,3,150"),
            "price",
            "invalid",
        ),
        ("F52", sound.replace(",30,USD", ",,USD"), "price", "cannot check"),
        ("F50", sound.clone(), "core", "warning"),
    ];
    let agreeing = "a,s,B,m,u,true,A,4,,,,,,,,,,,100\nb,s,B,m,u,true,B,4,,,,,,,,,,,150\n";
    cases.push(("F50", agreeing.to_owned(), "core", "passes"));
    cases.push(("F48", agreeing.to_owned(), "core", "passes"));
    for (id, rows, per, expected) in cases {
        let found = of(&rows, per);
        assert_eq!(outcome(&printed(&found, id)), expected, "{id} per {per}: {rows}{found}");
    }
    // A column that is computed here and has the name of the benchmark's own metric.
    world.write("mine/own.csv", &format!("{head}{agreeing}"));
    world.write(
        "mine/landscapes.toml",
        "[[landscape]]\nname = \"x\"\ntitle = \"X\"\nfiles = [\"own.csv\"]\n\
         columns = [{ field = \"system\" }, { value = \"v\" }, \
         { per = \"core\", title = \"m\" }]\n",
    );
    let done = world.run(&["landscape", "x", "--published", "mine", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let found = &json(&done.stdout)["landscape"]["findings"];
    assert_eq!(outcome(&printed(found, "F48")), "invalid", "{found}");
    std::fs::remove_file(world.path("mine/landscapes.toml")).unwrap();
}

#[test]
fn measured_beside_quoted_is_labelled_and_stated() {
    let world = World::new();
    let csv = "id,source,benchmark,metric,unit,higher_is_better,system,value\n\
        q,s,E,elapsed,s,false,Elsewhere,0.5\n";
    assert_eq!(outcome(&printed(&landscape(&world, csv, &[]), "F47")), "passes");
    let run = ["run", "--blocks", "3", "--monitors", "none", "--quiet", "--", "true"];
    assert_eq!(world.run(&run).code, 0);
    let found = landscape(&world, csv, &["--with", "last"]);
    assert_eq!(outcome(&printed(&found, "F47")), "warning", "{found}");
}

#[test]
fn runs_that_share_no_metric_are_not_compared() {
    let world = World::new();
    let run = |more: &[&str]| {
        let done = world.run(&[&["run", "--blocks", "3", "--quiet"], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let shown = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
        shown["summary"]["id"].as_str().unwrap().to_owned()
    };
    let first = run(&["--", "true"]);
    let again = run(&["--", "true"]);
    let other = run(&["noop"]);
    let compared = |a: &str, b: &str, metric: &[&str]| {
        let done = world.run(&[&["compare", a, b, "--json"], metric].concat());
        json(&done.stdout)["findings"].clone()
    };
    let found = compared(&first, &again, &[]);
    assert_eq!(outcome(&printed(&found, "F46")), "passes", "{found}");
    let found = compared(&first, &other, &[]);
    assert_eq!(outcome(&printed(&found, "F46")), "passes", "both decided by elapsed: {found}");
}

#[test]
fn a_meter_at_the_wall_is_named_with_its_uncertainty() {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::new();
    let log = world.write("meter.csv", "");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Simulates the program of a power meter.
            let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
            while !stop.load(Ordering::Relaxed) {
                writeln!(file, "62.4 W").unwrap();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        let run = |meter: &str| {
            let toml = format!(
                "name = \"watts\"\nworkload = \"command\"\n[params]\ncommand = \"sleep 0.7\"\n\
                 [design]\nblocks = 2\n\
                 [observe]\nmonitors = [\"meter\"]\nmeters = [\"csv:{}\"]\ninterval = \"100 ms\"\n\
                 {meter}",
                log.display()
            );
            let file = world.write("w.toml", &toml);
            let done = world.run(&["run", file.to_str().unwrap(), "--quiet"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
            crate::common::says::of_run(&world, "last", "lab").0["F51"].clone()
        };
        let meter = |percent: &str| {
            format!("[observe.meter]\nmodel = \"Example PM-1\"\nuncertainty_percent = {percent}\n")
        };
        let of = [run(&meter("0.5")), run(&meter("3.0")), run("")];
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(&of[1], Says::Fires(severity, _) if severity == "warning"), "{of:?}");
        assert_eq!([&of[0], &of[2]], [&Says::Passes, &Says::Cannot]);
    });
}

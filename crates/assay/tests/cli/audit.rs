//! `assay audit`, as a user types it.

use crate::common::World;

const TEXT: &str = "# Report\n\n| System | ops/s |\n|---|---|\n| Acme Z900 | 4220 |\n\
    | Bolt Q77 | 4000 |\n\n\
    The Acme Z900 has 5.5% more ops/s than the Bolt Q77. It is the best.\n";

const CELLS: &str = "cell(\"table 1\", row=\"Acme Z900\", column=\"ops/s\"), \
    than=cell(\"table 1\", row=\"Bolt Q77\", column=\"ops/s\")";

fn claims(says: &str, is: &str) -> String {
    format!(
        "format = 1\ntext = \"a.md\"\n\n[[claim]]\nquote = \"5.5% more\"\nsays = \"{says}\"\n\
        is = '{is}'\n"
    )
}

#[test]
fn a_claim_that_holds_ends_with_0_and_a_wrong_one_with_4() {
    let world = World::new();
    world.write("a.md", TEXT);
    world.write("claims.toml", &claims("5.5 %", &format!("more({CELLS})")));
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("a.md:8: holds\n"), "{}", done.stdout);
    assert!(done.stdout.contains("recomputed: 5.5 %"), "{}", done.stdout);
    assert!(done.stdout.contains("not checked: 1 comparison"), "{}", done.stdout);
    assert!(done.stdout.lines().all(|l| l.chars().count() <= 80), "{}", done.stdout);
    world.write("claims.toml", &claims("9 %", &format!("more({CELLS})")));
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml", "--json"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    let json = done.json();
    assert_eq!(json["claims"][0]["verdict"], "wrong");
    assert_eq!(json["claims"][0]["readings"][0]["computed"], "5.5 %");
    assert_eq!(json["not_checked"][0]["quote"], "It is the best.");
    assert_eq!(json["findings"][0]["id"], "F45");
    assert_eq!(json["findings"][0]["severity"], "invalid");
    world.write("claims.toml", &claims("9 %", r#"missing("the baseline")"#));
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.json()["claims"][0]["verdict"], "no-data");
    assert_eq!(done.json()["findings"][0]["id"], "F54");
    assert_eq!(done.json()["findings"][0]["severity"], "warning");
}

#[test]
fn quoted_results_are_inputs_of_any_file_or_folder() {
    let world = World::new();
    world.write("a.md", TEXT);
    let head = "id,source,benchmark,metric,unit,higher_is_better,system,value\n";
    let rows = "q-a,s,E,rate,ops/s,true,Acme,4220\nq-b,s,E,rate,ops/s,true,Bolt,4000\n\
        q-c,s,E,rate,s,false,C,1\n";
    world.write("r.csv", &format!("{head}{rows}"));
    world.write("claims.toml", &claims("5.5 %", r#"better("q-a", than="q-b")"#));
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml", "--results", "r.csv"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("q-b"), "{}", done.stdout);
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    let printed = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("claims.toml:7:") && printed.contains("no result `q-a`"), "{printed}");
}

#[test]
fn bad_files_end_with_2_and_name_the_place() {
    let world = World::new();
    world.write("bin", "a\0b");
    world.write("a.md", TEXT);
    world.write("b.md", TEXT);
    world.write("open.html", "<p>a</p>\n<table><tr><td>1\n");
    world.write("r.csv", "id,benchmark\n");
    world.write("claims.toml", &claims("5.5 %", &format!("more({CELLS})")));
    world.write(
        "row.toml",
        &claims("5.5 %", r#"value(cell("table 1", row="Crow", column="ops/s"))"#),
    );
    world.write("unit.toml", &claims("5.5 MB/s", &format!("more({CELLS})")));
    world.write("quote.toml", &claims("1", "value(1)").replace("5.5% more", "6% more"));
    let with = |text: &'static str, file: &'static str| vec!["audit", text, "--claims", file];
    for (args, words) in [
        (vec!["audit", "none.md"], "cannot read none.md"),
        (vec!["audit", "bin"], "bin:1: a byte 0x00: this is not text"),
        (vec!["audit", "open.html"], "open.html:2: this <table> is never closed"),
        (with("b.md", "claims.toml"), "claims.toml:2: these claims are of `a.md`, not of `b.md`"),
        (with("a.md", "row.toml"), "row.toml:7: `"),
        (with("a.md", "unit.toml"), "unit.toml:7: `says` is in MB/s, the expression in %"),
        (with("a.md", "quote.toml"), "quote.toml:5: `6% more` is not in `a.md`"),
        (vec!["audit", "a.md", "--draft", "-", "--results", "r.csv"], "column `metric` is missing"),
    ] {
        let done = world.run(&args);
        assert_eq!(done.code, 2, "{args:?}: {}{}", done.stdout, done.stderr);
        let printed = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(words), "{args:?}: {printed}");
    }
}

#[test]
fn a_draft_is_filled_in_and_never_overwritten() {
    let world = World::new();
    world.write("a.md", TEXT);
    let done = world.run(&["audit", "a.md", "--draft", "claims.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let draft = std::fs::read_to_string(world.path("claims.toml")).unwrap();
    assert!(
        draft.contains("says = '5.5 %'\nis = 'better(cell(") || draft.contains("is = 'more(cell("),
        "{draft}"
    );
    assert!(draft.contains("quote = 'It is the best.'\nsays = ''\nis = ''"), "{draft}");
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    world.write("claims.toml", "mine");
    let done = world.run(&["audit", "a.md", "--draft", "claims.toml"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("claims.toml exists: --force replaces it"), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(world.path("claims.toml")).unwrap(), "mine");
    let done = world.run(&["audit", "a.md", "--draft", "claims.toml", "--force"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let printed = world.run(&["audit", "a.md", "--draft", "-"]).stdout;
    assert_eq!(printed, draft);
}

/// The output in the documentation is the program's output for the example there.
#[test]
fn the_documented_example_is_real() {
    let text =
        std::fs::read_to_string(crate::common::repository().join("docs/publish/auditing.md"))
            .unwrap();
    let block = |fence: &str| text.split(fence).nth(1).unwrap().split("```").next().unwrap();
    let world = World::new();
    world.write("post.md", block("```markdown\n"));
    world.write("claims.toml", block("```toml\n"));
    let done = world.run(&["audit", "post.md", "--claims", "claims.toml"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert_eq!(done.stdout, block("```text\n"));
    let schema =
        std::fs::read_to_string(crate::common::repository().join("docs/schema/claims.schema.json"));
    for key in ["occurrence", "within", "except", "lines", "thousands"] {
        assert!(
            text.contains(&format!("`{key}`")) && schema.as_ref().unwrap().contains(key),
            "{key}"
        );
    }
}

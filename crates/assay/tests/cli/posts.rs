//! Posts from the command line: every template of the repository, and templates that are refused.

use crate::common::{World, repository};

const HEAD: &str = "+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n";

fn templates() -> Vec<std::path::PathBuf> {
    let folder = std::fs::read_dir(repository().join("posts")).unwrap();
    let mut all: Vec<_> = folder.map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "md"));
    all.sort();
    all
}

#[test]
fn every_template_is_published_from_quoted_results() {
    let world = World::new();
    let all = templates();
    assert!(all.len() >= 13, "a template for each of the posts");
    for template in &all {
        let name = template.file_stem().unwrap().to_str().unwrap();
        let done = world.run(&["publish", template.to_str().unwrap(), "-o", name]);
        assert_eq!(done.code, 0, "{name}: {}", done.stderr);
        let read = |file: &str| std::fs::read_to_string(world.path(name).join(file)).unwrap();
        let page = read("index.html");
        assert!(page.contains("id=\"derivations\"") && page.contains("href=\"#d1\""), "{name}");
        assert!(
            !page.contains("<script src") && !page.contains("<link rel=\"stylesheet\""),
            "{name}"
        );
        let json: serde_json::Value = serde_json::from_str(&read("post.json")).unwrap();
        let numbers = json["numbers"].as_array().unwrap();
        assert_eq!(numbers.len(), read("numbers.csv").lines().count() - 1, "{name}");
        for n in numbers {
            assert!(
                n["value"].is_number() || n["withheld"].is_string() || n["function"] == "field",
                "{name}: {n}"
            );
            let anchor = format!("id=\"{}\"", n["anchor"].as_str().unwrap());
            assert!(page.contains(&anchor), "{name}: {anchor}");
        }
        assert!(read("results.csv").lines().count() > 1, "{name}");
        assert!(read("index.md").contains("[^d1]:"), "{name}");
        assert_eq!(read("template.md"), std::fs::read_to_string(template).unwrap());
    }
}

#[test]
fn the_claims_of_a_post_come_out_as_computed() {
    let world = World::new();
    let template = repository().join("posts/2009-08-27-specjbb2005-t5240.md");
    let done = world.run(&["publish", template.to_str().unwrap(), "-o", "page", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let summary = done.json();
    assert!(summary["findings"].as_array().unwrap().iter().any(|f| f["id"] == "F50"));
    let text = std::fs::read_to_string(world.path("page/index.md")).unwrap();
    for computed in
        ["5% better", "2.1 times", "4.2 times", "483.2 bops/W", "1st of 3", "10% better"]
    {
        assert!(text.contains(computed), "{computed}");
    }
}

#[test]
fn what_is_invalid_is_not_published() {
    let world = World::new();
    let ratio = "{{ times(\"intrate-6048-base\", than=\"fprate-6048-base\") }}";
    world.write("two.md", &format!("{HEAD}{ratio}\n"));
    let done = world.run(&["publish", "two.md", "-o", "two"]);
    assert_eq!(done.code, 4);
    assert!(
        done.stderr.contains("F46") && done.stderr.contains("`1.4 times` (line 5)"),
        "{}",
        done.stderr
    );
    let done = world.run(&["publish", "two.md", "-o", "two", "--withhold"]);
    assert_eq!(done.code, 4);
    let page = std::fs::read_to_string(world.path("two/index.html")).unwrap();
    assert!(page.contains("withheld: F46") && !page.contains("1.4 times"));
}

#[test]
fn statements_are_certified_in_every_form() {
    let world = World::new();
    let template = repository().join("posts/2009-08-27-specjbb2005-t5240.md");
    let done = world.run(&["publish", template.to_str().unwrap(), "-o", "page"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let read = |file: &str| std::fs::read_to_string(world.path("page").join(file)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("post.json")).unwrap();
    let statements = json["statements"].as_array().unwrap();
    assert_eq!(statements.len(), 6);
    let first = &statements[1];
    let wanted = "Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz) is 5% better than IBM Power 570 (4 \
        chips, 4.7 GHz) in SPECjbb2005 bops.";
    assert_eq!((&first["text"], &first["verdict"]), (&wanted.into(), &"better".into()));
    assert_eq!(first["baseline"], "IBM Power 570 (4 chips, 4.7 GHz)");
    assert!(read("index.md").contains(&format!("{wanted} ✓ certified[^d")));
    assert_eq!(read("index.html").matches("✓ certified</a>").count(), 6);
    assert!(done.stdout.contains("6 statements certified, "), "{}", done.stdout);

    let glued = format!("{HEAD}It has {{{{ field(\"t5240-1.6\", \"chips\") }}}}**0** chips.\n");
    world.write("glued.md", &glued);
    let done = world.run(&["publish", "glued.md", "-o", "glued"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("glued.md:5:11") && done.stderr.contains("touches `0`"),
        "{}",
        done.stderr
    );
}

#[test]
fn bad_templates_are_answered_with_exit_code_2() {
    let world = World::new();
    for (body, wanted) in [
        ("Only words.\n", "names no result"),
        ("{{ beter(\"t5240-1.6\") }}\n", "did you mean `better`?"),
        ("{{ value(\"t5240-1.6\")\n", "never closed"),
        ("{{ value(12) }}\n", "not a number"),
        ("{{ times(\"t5240-1.6\", than=\"zfs-t5220-time\") }}\n", "bops against s"),
    ] {
        world.write("bad.md", &format!("{HEAD}{body}"));
        let done = world.run(&["publish", "bad.md", "-o", "page"]);
        assert_eq!(done.code, 2, "{body}: {}", done.stderr);
        assert!(done.stderr.contains(wanted) && done.stderr.contains("bad.md"), "{}", done.stderr);
    }
    std::fs::write(world.path("big.md"), vec![b'a'; 50 << 20]).unwrap();
    let done = world.run(&["publish", "big.md", "-o", "page"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("larger than 1 MiB"), "{}", done.stderr);
    assert_eq!(world.run(&["publish", "none.md", "-o", "page"]).code, 2);
    assert_eq!(world.run(&["publish", "last", "-o", "page", "--withhold"]).code, 2);
    assert!(!world.path("page").exists());
}

#[test]
fn latin_1_is_read_and_html_is_text() {
    let world = World::new();
    let mut bytes = HEAD.as_bytes().to_vec();
    bytes.extend(b"M\xfcnchen <script>alert(1)</script> {{ value(\"t5240-1.6\") }}\n");
    std::fs::write(world.path("latin.md"), bytes).unwrap();
    let done = world.run(&["publish", "latin.md", "-o", "page"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    assert!(page.contains("München") && page.contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("<script>alert"));
}

#[test]
fn a_run_of_the_archive_fills_its_section() {
    let world = World::new();
    let head = "+++\ntitle = \"T\"\n[runs.own]\nrun = \"last\"\nexperiment = \"x.toml\"\n+++\n";
    let body = "{{#run own}}{{ value(\"own:elapsed@command=sleep 0.01\") }}\n{{/run}}\n";
    world.write("own.md", &format!("{head}{body}"));
    let done = world.run(&["publish", "own.md", "-o", "none"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(world.path("none/index.md")).unwrap();
    assert!(text.contains("assay run x.toml"), "{text}");
    let run = ["run", "--blocks", "3", "--vs", "sleep 0.02", "--", "sleep", "0.01"];
    assert_eq!(world.run(&run).code, 0);
    let done = world.run(&["publish", "own.md", "-o", "page"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(world.path("page/index.md")).unwrap();
    assert!(text.contains(" s (") || text.contains(" ms ("), "the value with its interval: {text}");
    assert!(text.contains("[^d1]: ") && text.contains("; measured"), "{text}");
    let raw = std::fs::read_dir(world.path("page")).unwrap().flatten();
    assert!(raw.map(|f| f.file_name()).any(|n| n.to_string_lossy().ends_with(".tar.zst")));
    assert_eq!(world.run(&["publish", "own.md", "-o", "page", "--force"]).code, 0, "twice");
}

#[test]
fn what_was_typed_is_counted_in_every_form() {
    let world = World::new();
    world.write("typed.md", &format!("{HEAD}It did {{{{ value(\"t5240-1.6\") }}}} at 875 W.\n"));
    let done = world.run(&["publish", "typed.md", "-o", "page"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains(
            "0 statements certified, 1 number computed, 1 typed; the words are the author's"
        ),
        "{}",
        done.stdout
    );
    let read = |file: &str| std::fs::read_to_string(world.path("page").join(file)).unwrap();
    assert!(read("index.html").contains(
        "<span class=\"typed\" title=\"typed by the author; no function printed it\">875</span>"
    ));
    assert!(read("index.md").contains("at 875† W."));
    let json: serde_json::Value = serde_json::from_str(&read("post.json")).unwrap();
    assert_eq!((&json["typed"][0]["text"], &json["typed"][0]["line"]), (&"875".into(), &5.into()));
    let head = HEAD.replace("2009-08-27", "2035-01-01");
    world.write(
        "future.md",
        &format!("{head}{{{{ rank(\"t5240-1.6\", in=\"specjbb2005-t5240\") }}}}\n"),
    );
    let done = world.run(&["publish", "future.md", "-o", "future"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("future.md:3:1") && done.stderr.contains("lies in the future"),
        "{}",
        done.stderr
    );
}

const CLAIMS: &str = "\
{{#claim ahead(\"own:elapsed@command=sleep 0.01\", than=\"own:elapsed@command=sleep 0.1\")}}A \
short sleep is shorter.{{/claim}}

{{#claim ahead(\"own:elapsed@command=sleep 0.1\", than=\"own:elapsed@command=sleep 0.01\")}}A long \
sleep is shorter.{{/claim}}

{{#claim differs(\"own:elapsed@command=sleep 0.1\", than=\"own:elapsed@command=sleep 7\")}}Nobody \
planned that.{{/claim}}

{{#claim ahead(\"none:elapsed@a=1\", than=\"none:elapsed@a=2\")}}What cannot be prepared.{{/claim}}

{{#claim elsewhere(because=\"it takes another machine\", then=better(\"t5240-1.6\", \
than=\"p570-4chip\"))}}The other machine is better.{{/claim}}
";

/// Makes a folder of posts with two experiments, one of which can run nowhere.
fn with_claims() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("mine")).unwrap();
    let run = |name: &str, file: &str| {
        format!("[runs.{name}]\nrun = \"experiment:{name}\"\nexperiment = \"{file}\"\n")
    };
    let head =
        format!("+++\ntitle = \"T\"\n{}{}+++\n", run("own", "own.toml"), run("none", "none.toml"));
    world.write("mine/a.md", &format!("{head}{CLAIMS}"));
    world.write(
        "mine/own.toml",
        "name = \"own\"\nworkload = \"command\"\n[factors]\n\
         command = [\"sleep 0.1\", \"sleep 0.01\"]\n\
         [design]\nblocks = 5\n[observe]\nmonitors = []\n",
    );
    world.write(
        "mine/none.toml",
        "name = \"none\"\nworkload = \"command\"\n[factors]\n\
        command = [\"no-such-program-1\", \"no-such-program-2\"]\n",
    );
    world
}

fn claims(world: &World, arguments: &[&str]) -> Vec<(String, String, String)> {
    let done = world.run(&[&["reproduce", "mine", "--json"], arguments].concat());
    // The numbers of the run are withheld if the machine is busy during one side.
    let withheld = done.stdout.contains("withheld: ");
    assert_eq!(done.code, if withheld { 4 } else { 0 }, "{}{}", done.stdout, done.stderr);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let text = |v: &serde_json::Value| v.as_str().unwrap_or("").to_owned();
    let of = |c: &serde_json::Value| (text(&c["text"]), text(&c["here"]), text(&c["why"]));
    json["posts"][0]["claims"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn claims_are_asked_again_and_each_says_how_it_came_out() {
    let world = with_claims();
    let plan = world.run(&["reproduce", "mine", "--plan", "--json"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!(plan[0]["state"], "to be run", "{plan}");
    assert!(plan[1]["state"].as_str().unwrap().starts_with("cannot run here: "), "{plan}");
    assert!(world.runs().is_empty(), "a plan runs nothing");

    let asked = claims(&world, &["-o", "out"]);
    if let Some((_, _, why)) = asked.iter().find(|(_, _, why)| why.starts_with("withheld: ")) {
        println!("skipped: because a check withholds the run's numbers: {why}");
        return;
    }
    let here: Vec<&str> = asked.iter().map(|(_, here, _)| here.as_str()).collect();
    assert_eq!(
        here,
        ["holds", "does_not_hold", "undecided", "cannot_be_asked", "cannot_be_asked"],
        "{asked:?}"
    );
    assert!(asked[0].2.contains("times as good ["), "{asked:?}");
    assert!(asked[3].2.contains("no-such-program"), "{asked:?}");
    assert!(asked[4].2.contains("another machine"), "{asked:?}");
    let page = std::fs::read_to_string(world.path("out/a/index.html")).unwrap();
    assert!(
        page.contains("holds here") && page.contains("Then: 5% better"),
        "the page tells it too"
    );
    let table = std::fs::read_to_string(world.path("out/reproduction.md")).unwrap();
    assert!(
        table.contains("A short sleep is shorter.") && table.contains("does not hold here"),
        "{table}"
    );

    // Experiments in the archive do not run again.
    assert_eq!(world.runs().len(), 1);
    assert_eq!(claims(&world, &["-o", "out"])[0].1, "holds");
    assert_eq!(world.runs().len(), 1);
}

#[test]
fn what_the_budget_does_not_hold_is_not_run_and_reported() {
    let world = with_claims();
    let asked = claims(&world, &["--budget", "0s"]);
    assert_eq!(asked[0].1, "undecided");
    assert!(asked[0].2.contains("not run: it takes an unknown time"), "{asked:?}");
    assert!(world.runs().is_empty());
    assert_eq!(world.run(&["reproduce", "mine", "--budget", "soon"]).code, 2);
    assert_eq!(world.run(&["reproduce", "nowhere"]).code, 2);
}

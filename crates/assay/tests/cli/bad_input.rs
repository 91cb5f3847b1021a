//! Mistakes in input: each is reported with the problem, its place and a remedy, and with exit code
//! 2; the archive stays empty.

use crate::common::World;

/// Runs and plans an experiment file, and checks that it is refused with all of these words.
fn refused(text: &str, words: &[&str]) {
    let world = World::new();
    world.write("x.toml", text);
    for verb in ["run", "plan"] {
        let done = world.run(&[verb, "x.toml"]);
        assert_eq!(done.code, 2, "{verb}: {}{}", done.stdout, done.stderr);
        for word in words {
            assert!(done.stderr.contains(word), "{verb}: no `{word}` in: {}", done.stderr);
        }
        assert!(done.stdout.is_empty(), "{}", done.stdout);
    }
    assert!(world.runs().is_empty(), "nothing was run");
}

#[test]
fn an_unknown_key() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[desing]\nblocks = 3\n",
        &["x.toml:3:2", "unknown field `desing`", "did you mean `design`?"],
    );
}

#[test]
fn a_wrong_type() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = \"three\"\n",
        &["x.toml:4:10", "invalid type"],
    );
}

#[test]
fn not_toml_at_all() {
    refused("name = = 3\n", &["x.toml:1:8"]);
}

#[test]
fn an_unknown_workload() {
    refused("name = \"a\"\nworkload = \"nop\"\n", &["x.toml:2:12", "nop", "noop"]);
}

#[test]
fn an_unknown_parameter() {
    refused(
        "name = \"a\"\nworkload = \"block-size\"\n[params]\nbufer_size = 3\n",
        &["x.toml:4:14", "no parameter `bufer_size`", "did you mean `buffer_size`?"],
    );
}

#[test]
fn an_impossible_level() {
    refused(
        "name = \"a\"\nworkload = \"block-size\"\n[factors]\nprocesses = [1, 0]\n",
        &["x.toml:4:13", "`processes` is 0"],
    );
}

#[test]
fn a_comma_that_was_meant_to_stay_in_a_value() {
    let world = World::new();
    let set = "controls.storage=loop:btrfs,compress=zstd";
    for (verb, code) in [("plan", 0), ("run", 2)] {
        let done = world.run(&[verb, "--set", set, "--", "true"]);
        assert_eq!(done.code, code);
        let shown = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted = "--set 'controls.storage=[\"loop:btrfs,compress=zstd\"]'";
        assert!(shown.contains("make 2 levels") && shown.contains(quoted), "{shown}");
    }
    // The command in the hint works, and errors that no comma caused have no such hint.
    let right = "controls.storage=[\"loop:btrfs,compress=zstd,size=300MiB\"]";
    assert_eq!(world.run(&["plan", "--set", right, "--", "true"]).code, 0);
    let other = world.run(&["plan", "--set", "no-such=1,2", "--", "true"]);
    assert!(!other.stderr.contains("make 2 levels"), "{}", other.stderr);
}

#[test]
fn a_factor_without_levels() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = []\n",
        &["x.toml:4", "without levels"],
    );
}

#[test]
fn an_unknown_control() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[controls]\nnise = 3\n",
        &["x.toml:4:8", "nise", "nice"],
    );
}

#[test]
fn factors_that_do_not_fit_together() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = [0, 1]\n\
        \"controls.env.A\" = [1, 2, 3]\n[design]\nzip = [[\"controls.nice\", \
        \"controls.env.A\"]]\n",
        &["x.toml:7", "same number"],
    );
}

#[test]
fn everything_excluded() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = [0]\n[design]\n\
        exclude = [{ \"controls.nice\" = 0 }]\n",
        &["every combination is excluded"],
    );
}

#[test]
fn a_file_that_cannot_be_read() {
    let world = World::new();
    let done = world.run(&["run", "no-such-file.toml"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("no-such-file.toml"), "{}", done.stderr);
    std::fs::create_dir(world.path("folder.toml")).unwrap();
    assert_eq!(world.run(&["run", "folder.toml"]).code, 2);
    world.write("binary.toml", "\u{0}\u{1}");
    assert_eq!(world.run(&["run", "binary.toml"]).code, 2);
}

#[test]
fn a_program_that_does_not_exist() {
    let world = World::new();
    let done = world.run(&["run", "--", "no-such-program-anywhere"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("no-such-program-anywhere"), "{}", done.stderr);
}

#[test]
fn a_run_that_does_not_exist() {
    let world = World::new();
    for arguments in [
        ["archive", "show", "20200101-000000-aaaa"].as_slice(),
        &["publish", "last", "-o", "x"],
        &["compare", "20200101-000000-aaaa"],
        &["run", "--resume", "last"],
    ] {
        let done = world.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn flags_that_make_no_sense() {
    let world = World::new();
    for arguments in [
        ["run"].as_slice(),
        &["run", "noop", "--", "true"],
        &["run", "--vs", "true"],
        &["run", "--set", "x", "noop"],
        &["run", "noop", "--margin", "much"],
        &["run", "noop", "--timeout", "soon"],
        &["run", "noop", "--monitors", "cpu,nonsense"],
        &["run", "noop", "--export", "pdf=x"],
        &["run", "noop", "--gate"],
        &["stat", "--interval", "1 ms", "-n", "1"],
        &["frobnicate"],
    ] {
        let done = world.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(!done.stderr.trim().is_empty(), "{arguments:?} printed nothing");
    }
    assert!(world.runs().is_empty());
}

//! Tests every option of every verb with a nonsense value: either it is refused and named, or any
//! value is right.

use std::process::Command;

use crate::common::World;

type Words = &'static [&'static str];

/// Verbs with the words that they need before and after an option, and the options that take any
/// value in addition to [`FREE`].
const VERBS: &[(&str, Words, Words, Words)] = &[
    ("run", &[], &["--", "true"], &[]),
    // Hosts are reached by a run.
    ("plan", &[], &["--", "true"], &["host"]),
    ("gate", &["--head", "HEAD~1"], &["--", "true"], OF_REVISIONS),
    ("history", &["--rev", "HEAD~1..HEAD"], &["--", "true"], OF_REVISIONS),
    ("bisect", &["--good", "HEAD~1"], &["--", "true"], OF_REVISIONS),
    ("compare", &[], &["last"], &[]),
    ("publish", &["-o", "page"], &["last"], &[]),
    ("site", &["-o", "pages"], &[], &["base-url"]),
    ("explain", &[], &["last"], &["treatment"]),
    ("profile", &["--seconds", "1"], &["--", "true"], &["cgroup", "from"]),
    ("syscalls", &[], &["--", "true"], &["cgroup"]),
    ("stat", &[], &["--", "true"], &["cgroup"]),
    ("landscape", &[], &["specjbb2005"], &[]),
    ("landscape", &[], &[], &[]),
    ("audit", &[], &["post.md"], &[]),
    // An unknown host is a check that fails.
    ("doctor", &[], &[], &["host"]),
    ("workloads", &[], &[], &[]),
    ("rules check", &[], &["last"], &[]),
    ("archive list", &[], &[], &[]),
    ("archive show", &[], &["last"], &[]),
];

/// Options that are checked in the folders of the revisions, after the builds.
const OF_REVISIONS: Words =
    &["vs", "setup", "prepare", "conclude", "shell", "stdin", "check", "expect", "ignore-failure"];

/// Options that take any text: names, words, output files, command lines that run later.
const FREE: &[&str] = &[
    "archive",
    "name",
    "tag",
    "note",
    "link",
    "output",
    "markdown",
    "events",
    "build",
    "title",
    "text",
    "workload",
    "experiment",
    "export",
    "draft",
];

/// Returns the options of a verb that take a value, from its help.
fn options(world: &World, verb: &str) -> Vec<String> {
    let mut words: Vec<&str> = verb.split(' ').collect();
    words.push("--help");
    let help = world.run(&words).stdout;
    let found = values(&help);
    assert!(!found.is_empty(), "{verb}: {help}");
    found
}

/// Returns the options in a help text that take a value.
pub fn values(help: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in help.lines().filter(|l| l.trim_start().starts_with('-')) {
        let Some((_, rest)) = line.split_once("--") else { continue };
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
        if rest[end..].trim_start_matches([' ', '=', '[']).starts_with('<') {
            found.push(rest[..end].to_owned());
        }
    }
    found
}

#[test]
fn nonsense_is_refused_by_every_option() {
    let world = World::new();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=n", "-c", "user.email=n@localhost"];
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(world.path(""))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    world.write("post.md", "# Nothing\n");
    git(&["init", "--quiet", "--initial-branch=main"]);
    for message in ["one", "two"] {
        git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }
    world.run(&["run", "-q", "--blocks", "2", "--monitors", "none", "--", "true"]);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (verb, before, after, own) in VERBS {
        for option in options(&world, verb) {
            let given = |words: &[&str]| words.contains(&format!("--{option}").as_str());
            if FREE.contains(&option.as_str()) || own.contains(&option.as_str()) || given(before) {
                continue;
            }
            let nonsense = format!("--{option}=@@nonsense@@");
            let mut words: Vec<&str> = verb.split(' ').collect();
            words.extend(*before);
            words.push(&nonsense);
            words.extend(*after);
            let done = world.run(&words);
            tried += 1;
            let said = done.stderr + &done.stdout;
            let named = said.contains("nonsense") || said.contains(&format!("--{option}"));
            if !matches!(done.code, 1..=3) || !named {
                wrong.push(format!("{}: {} {said}", words.join(" "), done.code));
            }
        }
    }
    assert!(tried > 120, "{tried}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

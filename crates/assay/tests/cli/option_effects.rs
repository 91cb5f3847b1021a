//! Tests every option that takes a value with a value that changes the command's effects. The test
//! fails for an option that is ignored, and for a new option without a row.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::commits::git;
use crate::common::{Done, World, eventually, json, repository};
use crate::options::values;

type Words = &'static [&'static str];

/// Place in which the effect of an option shows.
#[derive(Clone, Copy)]
enum Shows {
    /// The effect is in the exit code, standard output or standard error.
    Printed,
    /// This file exists only with the option.
    File(&'static str),
    /// The effect is in a part of the command's results.
    Part(fn(&Left) -> String),
    /// The command ends with exit code 2, which no other row may do.
    Refused,
    /// The command ends; without the option, only an interrupt ends it.
    End,
}
use Shows::{End, File, Part, Printed, Refused};

/// An option, a value, the words that both commands have (with and without the option), and the
/// place of its effect. Words with `--` among them replace the end of the group's commands.
type Row = (&'static str, &'static str, Words, Shows);

/// Test commands of one verb.
struct Group {
    verb: &'static str,
    /// Words of all commands, before and after the options.
    before: Words,
    after: Words,
    /// Additional words of the commands for `together`.
    with: Words,
    /// Options that share one command, because each has its effect in another place; without those
    /// in `each`.
    together: &'static [&'static [Row]],
    /// Options that need a command of their own.
    each: &'static [Row],
}

const fn alone(verb: &'static str, before: Words, after: Words, each: &'static [Row]) -> Group {
    Group { verb, before, after, with: &[], together: &[], each }
}

/// Results of a command.
struct Left<'a> {
    world: &'a World,
    done: Done,
    /// Run that the command recorded, as `archive show` prints it.
    run: Value,
}

impl Left<'_> {
    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.world.path(name)).unwrap_or_default()
    }

    fn contains(&self, name: &str, text: &str) -> String {
        self.file(name).contains(text).to_string()
    }

    /// Returns a part of the output of `--json`, by its JSON pointer.
    fn printed(&self, pointer: &str) -> String {
        part(&serde_json::from_str(&self.done.stdout).unwrap_or_default(), pointer)
    }

    fn recorded(&self, pointer: &str) -> String {
        assert!(self.run.is_object(), "nothing was recorded: {}", self.done.stderr);
        part(&self.run, pointer)
    }

    fn records(&self, text: &str) -> String {
        self.run["records"].to_string().matches(text).count().to_string()
    }
}

fn part(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).map(Value::to_string).unwrap_or_default()
}

fn code(left: &Left) -> String {
    left.done.code.to_string()
}

fn lines(left: &Left) -> String {
    left.done.stdout.lines().count().to_string()
}

/// Returns the standard output of the first trial.
fn output(left: &Left) -> String {
    let id = left.run["summary"]["id"].as_str().unwrap();
    left.file(&format!("archive/runs/{id}/trials/0001/stdout.log"))
}

/// Returns the order of the run's treatments.
fn order(left: &Left) -> String {
    let trials = left.run["plan"]["trials"].as_array().unwrap();
    trials.iter().map(|t| t["treatment"].to_string()).collect()
}

/// Options of the experiment of gates, histories and searches. They reach the run like those of
/// `run`, which tests their effects.
const EXPERIMENT: &[Row] = &[
    ("set", "controls.nice=3", &[], Part(|l| l.file("nice"))),
    ("build", "touch {world}/built", &[], File("built")),
    ("repo", "{world}/other", &[], Part(|l| l.recorded("/plan/treatments/0/levels/rev"))),
    ("blocks", "4", &[], Part(|l| l.recorded("/experiment/design/blocks"))),
    ("warmup", "2", &[], Part(|l| l.recorded("/experiment/design/warmup_blocks"))),
    ("group-by", "rev", &[], Part(|l| l.recorded("/experiment/design/group_by"))),
    ("seed", "8", &[], Part(|l| l.recorded("/plan/seed"))),
    ("timeout", "77 s", &[], Part(|l| l.recorded("/experiment/design/timeout"))),
    ("max-time", "66 s", &[], Part(|l| l.recorded("/experiment/design/max_time"))),
    ("margin", "55 %", &[], Part(|l| l.recorded("/experiment/compare/margin"))),
    ("metric", "user", &[], Part(|l| l.recorded("/experiment/compare/metric"))),
    ("monitors", "cpu", &[], Part(|l| l.recorded("/experiment/observe/monitors"))),
    ("tracers", "syscalls", &[], Part(|l| l.recorded("/experiment/observe/tracers"))),
    ("interval", "200 ms", &[], Part(|l| l.recorded("/experiment/observe/interval"))),
    ("setup", "touch {world}/setup", &[], File("setup")),
    ("prepare", "touch {world}/prepare", &[], File("prepare")),
    ("conclude", "touch {world}/conclude", &[], File("conclude")),
    ("stdin", "{world}/post.md", &[], Part(|l| l.file("stdin"))),
    ("shell", "bash", &[], Part(|l| l.recorded("/experiment/params/shell"))),
    ("reader", "auto", &[], Part(|l| l.recorded("/experiment/params/reader"))),
    ("result-file", "x", &[], Part(|l| l.recorded("/experiment/params/result_file"))),
    ("metric-from", "x {value}", &[], Part(|l| l.recorded("/experiment/params/metric_from"))),
    ("better", "lower", &[], Part(|l| l.recorded("/experiment/params/better"))),
    ("check", "cat", &[], Part(|l| l.recorded("/experiment/params/check"))),
    ("expect", "{world}/post.md", &[], Part(|l| l.recorded("/experiment/params/expect"))),
    ("ignore-failure", "3", &[], Part(|l| l.recorded("/experiment/params/exit_codes"))),
    ("name", "other", &[], Part(|l| l.recorded("/experiment/name"))),
    ("tag", "word", &[], Part(|l| l.recorded("/experiment/tags"))),
];

const GROUPS: &[Group] = &[
    Group {
        verb: "run",
        before: &["--json", "--quiet", "--seed=7", "--blocks=2", "--monitors=none"],
        after: &["--", "sh {world}/probe"],
        with: &[],
        together: &[&[
            ("vs", "true", &[], Part(|l| l.recorded("/plan/treatments/1/levels"))),
            ("set", "controls.nice=3", &[], Part(|l| l.file("nice"))),
            ("blocks", "3", &[], Part(|l| l.records("\"block\":3"))),
            ("warmup", "1", &[], Part(|l| l.records("\"warmup\":true"))),
            ("metric", "user", &[], Part(|l| l.recorded("/analysis/metric"))),
            ("monitors", "cpu", &[], Part(|l| l.recorded("/records/0/observers"))),
            ("tracers", "syscalls", &[], Part(|l| l.recorded("/experiment/observe/tracers"))),
            ("interval", "200 ms", &[], Part(|l| l.recorded("/experiment/observe/interval"))),
            ("setup", "touch {world}/setup", &[], File("setup")),
            ("prepare", "touch {world}/prepare", &[], File("prepare")),
            ("conclude", "touch {world}/conclude", &[], File("conclude")),
            ("stdin", "{world}/post.md", &[], Part(|l| l.file("stdin"))),
            ("shell", "bash", &[], Part(|l| l.records("\"shell_startup\""))),
            ("name", "other", &[], Part(|l| l.recorded("/summary/experiment"))),
            ("tag", "word", &[], Part(|l| l.recorded("/summary/tags"))),
            ("export", "csv={world}/run.csv", &[], File("run.csv")),
            ("events", "{world}/events.jsonl", &[], File("events.jsonl")),
            ("output", "discard", &[], Part(output)),
        ]],
        each: &[
            ("rev", "HEAD~1,HEAD", &["--", "true"], Part(|l| l.recorded("/plan/treatments/1"))),
            ("build", "touch {world}/built", &["--rev=HEAD", "--", "true"], File("built")),
            (
                "builds",
                "2",
                &["--rev=HEAD", "--build=true", "--", "true"],
                Part(|l| l.records("\"build\":2")),
            ),
            (
                "repo",
                "{world}/other",
                &["--rev=HEAD", "--", "true"],
                Part(|l| l.recorded("/plan/treatments/0/levels/rev")),
            ),
            (
                "group-by",
                "command",
                &["--vs=false", "--ignore-failure", "--blocks=6", "--", "true"],
                Part(order),
            ),
            (
                "seed",
                "8",
                &["--vs=false", "--ignore-failure", "--blocks=6", "--", "true"],
                Part(order),
            ),
            ("timeout", "0.1 s", &["--", "sleep", "0.5"], Part(code)),
            (
                "reader",
                "auto",
                &["--", "echo", "test a ... bench: 1 ns/iter (+/- 0)"],
                Part(|l| l.recorded("/analysis/metric")),
            ),
            (
                "result-file",
                "{world}/none",
                &["--reader=auto", "--", "echo", "test a ... bench: 1 ns/iter (+/- 0)"],
                Part(code),
            ),
            (
                "metric-from",
                "x {value}",
                &["--", "echo", "x 5"],
                Part(|l| l.recorded("/analysis/metric")),
            ),
            (
                "better",
                "lower",
                &["--metric-from=x {value}", "--", "echo", "x 5"],
                Part(|l| l.recorded("/analysis/better")),
            ),
            ("check", "false", &["--", "true"], Part(code)),
            ("expect", "{world}/post.md", &["--", "true"], Part(code)),
            ("max-time", "0.1 s", &["--", "sleep", "0.3"], Part(|l| l.records("\"outcome\""))),
            (
                "margin",
                "9 %",
                &["--vs=sleep 0", "--", "true"],
                Part(|l| l.recorded("/analysis/comparisons/0/margin")),
            ),
            ("ignore-failure", "3", &["--", "sh", "-c", "exit 3"], Part(code)),
            ("on", "vm", &["--", "true"], Refused),
            ("resume", "{interrupted}", &["--"], Part(code)),
            ("again", "last", &["--"], Part(code)),
        ],
    },
    alone(
        "plan",
        &["--json", "--seed=7"],
        &["--", "true"],
        &[
            ("vs", "false", &[], Printed),
            ("set", "controls.nice=0,1", &[], Printed),
            ("rev", "HEAD~1,HEAD", &[], Printed),
            ("build", "make", &["--rev=HEAD"], Printed),
            ("builds", "2", &["--rev=HEAD", "--build=make"], Printed),
            ("repo", "{world}/other", &["--rev=HEAD"], Printed),
            ("blocks", "3", &[], Printed),
            ("warmup", "1", &[], Printed),
            ("group-by", "command", &["--vs=false", "--blocks=6"], Printed),
            ("seed", "8", &["--vs=false", "--blocks=6"], Printed),
            ("timeout", "77 s", &[], Printed),
            ("max-time", "66 s", &[], Printed),
            ("margin", "55 %", &[], Printed),
            ("metric", "user", &[], Printed),
            ("monitors", "none", &[], Printed),
            ("tracers", "syscalls", &[], Printed),
            ("interval", "7 s", &[], Printed),
            ("setup", "true", &[], Printed),
            ("prepare", "true", &[], Printed),
            ("conclude", "true", &[], Printed),
            ("stdin", "{world}/post.md", &[], Printed),
            ("shell", "bash", &[], Printed),
            ("reader", "auto", &[], Printed),
            ("result-file", "x", &["--reader=auto"], Printed),
            ("metric-from", "x {value}", &[], Printed),
            ("better", "lower", &["--metric-from=x {value}"], Printed),
            ("check", "true", &[], Printed),
            ("expect", "{world}/post.md", &[], Printed),
            ("ignore-failure", "3", &[], Printed),
            ("on", "slurm", &[], Printed),
            ("nodes", "2", &["--on=slurm"], Printed),
            ("tasks-per-node", "2", &["--on=slurm"], Printed),
            ("partition", "short", &["--on=slurm"], Printed),
            ("host", "a", &["--on=ssh"], Printed),
            ("hosts-as", "factor", &["--host=a,b"], Printed),
            ("name", "other", &[], Printed),
            ("tag", "word", &[], Printed),
        ],
    ),
    Group {
        verb: "gate",
        before: &["--json", "--quiet", "--seed=7", "--blocks=2", "--monitors=none"],
        after: &["--base=HEAD~1", "--profile=never", "--", "sh {world}/probe"],
        with: &[],
        together: &[
            EXPERIMENT,
            &[
                ("builds", "2", &[], Part(|l| l.recorded("/experiment/source/builds"))),
                ("markdown", "{world}/gate.md", &[], File("gate.md")),
                ("export", "md={world}/gate-run.md", &[], File("gate-run.md")),
            ],
        ],
        each: &[
            ("vs", "true", &[], Refused),
            ("rev", "HEAD", &[], Refused),
            ("on", "vm", &[], Refused),
            ("base", "HEAD", &[], Refused),
            ("head", "HEAD~2", &[], Refused),
            ("budget", "1 ms", &[], Part(|l| l.records("\"outcome\""))),
        ],
    },
    Group {
        verb: "bisect",
        before: &["--json", "--quiet", "--seed=7", "--blocks=1", "--monitors=none"],
        after: &["--good=HEAD~2", "--profile=never", "--", "sh {world}/probe"],
        with: &["--budget=2 s"],
        together: &[EXPERIMENT],
        each: &[
            ("vs", "true", &["--budget=0 s"], Refused),
            ("rev", "HEAD", &["--budget=0 s"], Refused),
            ("builds", "2", &["--budget=0 s"], Refused),
            ("on", "vm", &[], Refused),
            (
                "max-time",
                "66 s",
                &["--name=new{n}"],
                Part(|l| l.recorded("/experiment/design/max_time")),
            ),
            ("good", "HEAD~1", &["--budget=0 s"], Part(|l| l.printed("/commits"))),
            ("bad", "HEAD~1", &["--budget=0 s"], Part(|l| l.printed("/commits"))),
            ("budget", "0 s", &["--name=new{n}"], Part(code)),
            ("output", "{world}/bisect.md", &["--budget=0 s"], File("bisect.md")),
        ],
    },
    Group {
        verb: "history",
        before: &["--json", "--quiet", "--seed=7", "--blocks=1", "--monitors=none"],
        after: &["--rev=HEAD~2..HEAD", "--", "sh {world}/probe"],
        with: &["--fill"],
        together: &[
            EXPERIMENT,
            &[("builds", "2", &[], Part(|l| l.recorded("/experiment/source/builds")))],
        ],
        each: &[
            ("vs", "true", &[], Refused),
            ("rev", "HEAD~1..HEAD", &["--rev=HEAD~2..HEAD", "--", "true"], Printed),
            ("on", "vm", &["--fill", "--name=far"], Refused),
            ("reference", "HEAD~1", &[], Printed),
            (
                "points",
                "1",
                &["--fill", "--build=true {n}"],
                Part(|l| l.done.stdout.matches("\"place\"").count().to_string()),
            ),
            ("budget", "0 s", &["--fill", "--build=true {n}"], Part(code)),
            ("acknowledge", "HEAD", &[], Refused),
            ("reset", "HEAD", &[], Printed),
            ("imported", "nightly", &["--"], Part(code)),
            ("output", "{world}/history.html", &[], File("history.html")),
        ],
    },
    alone(
        "history import",
        &["--archive={world}/a{n}"],
        &["{world}/nightly.csv"],
        &[("as", "fio", &[], Refused), ("name", "mine", &[], Printed)],
    ),
    alone(
        "archive list",
        &["--json"],
        &[],
        &[
            ("archive", "{world}/elsewhere", &[], Printed),
            ("workload", "noop", &[], Printed),
            ("experiment", "first", &[], Printed),
            ("tag", "one", &[], Printed),
            ("text", "second", &[], Printed),
            ("limit", "1", &[], Printed),
        ],
    ),
    alone(
        "archive export",
        &[],
        &["last"],
        &[("output", "{world}/run.tar.zst", &[], File("run.tar.zst"))],
    ),
    alone(
        "archive import",
        &[],
        &[],
        &[
            ("as", "fio", &["{world}/hyperfine.json", "--archive={world}/a{n}"], Refused),
            (
                "name",
                "mine",
                &["{world}/hyperfine.json", "--again"],
                Part(|l| l.recorded("/summary/experiment")),
            ),
            (
                "tag",
                "word",
                &["{world}/hyperfine.json", "--again"],
                Part(|l| l.recorded("/summary/tags")),
            ),
            (
                "max-size",
                "1 KiB",
                &["{world}/bundle.tar.zst", "--archive={world}/a{n}"],
                Part(code),
            ),
            ("max-files", "1", &["{world}/bundle.tar.zst", "--archive={world}/a{n}"], Part(code)),
        ],
    ),
    alone("archive tag", &[], &["{first}"], &[("remove", "added", &[], Printed)]),
    alone(
        "compare",
        &[],
        &[],
        &[
            ("metric", "user", &["{first}", "{second}"], Printed),
            ("margin", "90 %", &["{first}", "{second}", "--json"], Printed),
            ("factor", "kernel.release", &["{first}", "{third}"], Part(code)),
            ("accept", "host.name=it is known", &["{first}", "{third}"], Printed),
            ("reference", "nice=0", &["{first}", "{second}"], Printed),
            ("output", "{world}/compared.html", &["{first}", "{second}"], File("compared.html")),
        ],
    ),
    alone("explain", &[], &["{first}"], &[("treatment", "nice=1", &[], Printed)]),
    alone(
        "publish",
        &[],
        &[],
        &[
            ("output", "{world}/page", &["{first}"], File("page/index.html")),
            (
                "published",
                "{world}/mine",
                &["{world}/own.md", "--output={world}/own{n}"],
                Part(code),
            ),
        ],
    ),
    alone(
        "reproduce",
        &["--json"],
        &["{world}/posts"],
        &[
            (
                "budget",
                "0 s",
                &["--archive={world}/a{n}"],
                Part(|l| l.printed("/experiments/0/state")),
            ),
            ("output", "{world}/reproduced", &[], File("reproduced/reproduction.md")),
        ],
    ),
    Group {
        verb: "site",
        before: &["--archive={world}/empty"],
        after: &[],
        with: &["--output={world}/site"],
        together: &[&[
            ("title", "Other notes", &[], Part(|l| l.contains("site/index.html", "Other notes"))),
            ("posts", "{world}/posts", &[], Part(|l| l.contains("site/index.html", "Of pauses"))),
            ("base-url", "https://example.org/", &[], File("site/sitemap.xml")),
            ("published", "{world}/mine", &[], File("site/landscapes/own.html")),
        ]],
        each: &[("output", "{world}/site2", &[], File("site2/index.html"))],
    },
    alone(
        "landscape",
        &[],
        &[],
        &[
            ("as-of", "2009-07-20", &["specjbb2005"], Printed),
            ("per", "core", &["specjbb2005"], Printed),
            ("with", "{first}", &["own", "--published={world}/mine"], Printed),
            ("published", "{world}/mine", &["own"], Printed),
            ("metric", "CPU us", &["iostat"], Printed),
            ("top", "1", &["specjbb2005"], Printed),
            ("output", "{world}/landscape.html", &["specjbb2005"], File("landscape.html")),
        ],
    ),
    alone(
        "audit",
        &[],
        &["{world}/a.md"],
        &[
            ("claims", "{world}/claims.toml", &[], Printed),
            ("draft", "{world}/draft.toml", &[], File("draft.toml")),
            ("results", "{world}/mine/own.csv", &["--claims={world}/quoted.toml"], Part(code)),
            ("published", "{world}/mine", &["--claims={world}/quoted.toml"], Part(code)),
        ],
    ),
    alone("rules list", &[], &[], &[("packs", "{world}/packs", &[], Printed)]),
    alone("rules show", &[], &["orders"], &[("packs", "{world}/packs", &[], Printed)]),
    alone(
        "rules judge",
        &[],
        &["orders", "{world}/result.json"],
        &[("packs", "{world}/packs", &[], Printed)],
    ),
    alone("rules check", &["--json"], &["{first}"], &[("profile", "publish", &[], Printed)]),
    alone(
        "tlb",
        &[],
        &[],
        &[
            ("simulate", "{world}/a.trace", &[], Printed),
            ("machine", "solaris-9", &["--simulate={world}/a.trace"], Printed),
            ("page", "2 MiB", &["--simulate={world}/a.trace"], Printed),
            ("instruction-page", "2 MiB", &["--simulate={world}/a.trace", "--page=2 MiB"], Printed),
            ("every", "2000", &["--simulate={world}/a.trace"], Printed),
            ("slice", "100", &["--simulate", "{world}/a.trace", "{world}/a.trace"], Printed),
            ("record", "{world}/kept.trace", &["--simulate={world}/a.trace"], File("kept.trace")),
        ],
    ),
    alone(
        "io",
        &["--from={world}/snoop"],
        &[],
        &[
            ("from", "{world}/snoop2", &[], Printed),
            ("by", "program", &[], Printed),
            ("hist", "size", &[], Printed),
            ("linear", "0,100000,1000", &["--hist=size"], Printed),
            ("unit", "ms", &["--hist=latency"], Printed),
            ("tick", "1 s", &[], Printed),
            ("top", "1", &["--by=program"], Printed),
            ("program", "tar", &[], Printed),
            ("device", "sdb", &[], Printed),
            ("pid", "20", &[], Printed),
            ("file", "b", &[], Printed),
            ("from-time", "1 s", &[], Printed),
            ("to-time", "1 s", &[], Printed),
            ("blocks", "0-100", &[], Printed),
            ("save", "{world}/io.parquet", &[], File("io.parquet")),
            ("format", "csv", &[], Printed),
        ],
    ),
    alone(
        "profile",
        &[],
        &[],
        &[
            ("from", "{world}/stacks.folded", &[], Printed),
            ("top", "1", &["--from={world}/stacks.folded"], Printed),
            (
                "output",
                "{world}/stacks.html",
                &["--from={world}/stacks.folded"],
                File("stacks.html"),
            ),
        ],
    ),
    alone(
        "stat",
        &["--json"],
        &[],
        &[
            ("interval", "100 ms", &["--interval=1 s", "--seconds=1"], Part(lines)),
            ("count", "2", &["--interval=100 ms"], End),
            ("seconds", "0.2", &["--interval=100 ms"], End),
            (
                "busiest",
                "1",
                &["--tasks", "--count=1", "--interval=100 ms"],
                Part(|l| (l.done.stdout.matches("\"pid\"").count() > 1).to_string()),
            ),
            (
                "pid",
                "{pid}",
                &["--tasks", "--count=1", "--interval=100 ms", "--busiest=100000"],
                Part(|l| l.done.stdout.matches("\"pid\"").count().to_string()),
            ),
        ],
    ),
    alone("submit", &[], &["noop"], &[("server", "127.0.0.1:9", &[], Printed)]),
    alone("pending", &[], &[], &[("server", "127.0.0.1:9", &[], Printed)]),
    alone("cancel", &[], &["1"], &[("server", "127.0.0.1:9", &[], Printed)]),
    alone("wait", &[], &["1"], &[("server", "127.0.0.1:9", &[], Printed)]),
    alone("resume", &[], &["1"], &[("server", "127.0.0.1:9", &[], Printed)]),
    alone("man", &[], &[], &[("output", "{world}/man1", &[], File("man1/assay.1"))]),
    alone(
        "schema",
        &[],
        &[],
        &[("output", "{world}/schemas", &[], File("schemas/experiment.schema.json"))],
    ),
];

/// Verbs with options that no test can show, and the reason.
const UNSHOWN: &[(Words, Words, &str)] = &[
    (
        &["run", "gate", "bisect", "history", "doctor"],
        &["nodes", "tasks-per-node", "partition", "host", "hosts-as"],
        "needs a Slurm cluster; `plan` shows it",
    ),
    (&["gate", "bisect", "history"], &["profile"], "needs a clear difference, root and a long run"),
    (&["history"], &["note", "link"], "needs a confirmed change, which takes a long run"),
    (&["doctor"], &["comparisons"], "takes a minute"),
    (&["doctor"], &["on"], "needs a Slurm cluster"),
    (&["cpu result"], &["facts"], "needs a run of a suite"),
    (&["stat"], &["cgroup"], "needs a control group, which root makes"),
    (&["stat"], &["shape", "names"], "needs a disk with more than one name"),
    (&["io"], &["count"], "live, which needs root"),
    (&["io"], &["cgroup"], "no trace of another program has it"),
    (&["io"], &["threads"], "changes the speed alone"),
    (
        &["profile"],
        &["pid", "cgroup", "seconds", "rate", "unwind", "room"],
        "live, which needs root",
    ),
    (&["syscalls"], &["pid", "cgroup", "seconds", "by", "top"], "live, which needs root"),
    (&["tlb"], &["interval"], "needs hardware counters"),
    (&["reproduce"], &["published"], "the post is published as `publish` does, which shows it"),
    (
        &["serve"],
        &["listen", "host", "connections", "connections-per-address", "rate"],
        "listens on the network",
    ),
    (
        &["submit"],
        &["set", "blocks", "tag", "rev", "reference", "at"],
        "needs a server, which listens on the network",
    ),
    (&["archive import"], &["max-ratio"], "needs a run of 64 MiB"),
];

const POST: &str = "+++\ntitle = \"Of pauses\"\n[runs.own]\nrun = \"experiment:own\"\n\
    experiment = \"own.toml\"\n+++\n\
    {{#claim ahead(\"own:elapsed@command=sleep 0.01\", than=\"own:elapsed@command=sleep \
    0.05\")}}It is shorter.{{/claim}}\n";
const OWN: &str = "name = \"own\"\nworkload = \"command\"\n[factors]\n\
    command = [\"sleep 0.05\", \"sleep 0.01\"]\n\
    [design]\nblocks = 5\n[observe]\nmonitors = []\n";

/// World with the posts, results, traces and runs that the commands use.
struct Bench {
    world: World,
    /// Texts by the placeholder in braces that they replace.
    names: BTreeMap<&'static str, String>,
    made: Cell<u32>,
}

impl Bench {
    fn new() -> Self {
        let world = World::new();
        let here = world.path("").display().to_string().trim_end_matches('/').to_owned();
        for folder in ["other", "mine", "posts", "packs"] {
            fs::create_dir(world.path(folder)).unwrap();
        }
        for (repo, naps) in [("", ["0.01", "0.01", "0.1"]), ("other", ["0.02", "0.02", "0.12"])] {
            let repo = world.path(repo);
            git(&repo, &["init", "--quiet"]);
            for (n, nap) in naps.iter().enumerate() {
                fs::write(repo.join("nap"), format!("{nap}\n")).unwrap();
                fs::write(repo.join("n"), n.to_string()).unwrap();
                git(&repo, &["add", "nap", "n"]);
                git(&repo, &["commit", "--quiet", "-m", &format!("change {n}")]);
            }
        }
        world.write(
            "probe",
            &format!("echo out; cat > {here}/stdin; nice > {here}/nice; sleep $(cat nap)\n"),
        );
        world.write("post.md", "# Nothing\n");
        let pack = fs::read_to_string(repository().join("rulepacks/orders-1.0.toml")).unwrap();
        world.write("packs/orders.toml", &pack.replace("version = \"1.0\"", "version = \"9.9\""));
        let data = repository().join("crates/workloads/tests/workloads/readers/data");
        for name in ["hyperfine.json", "nightly.csv"] {
            fs::copy(data.join(name), world.path(name)).unwrap();
        }
        let head =
            "id,source,benchmark,metric,unit,higher_is_better,system,cores,value,as_of_date\n";
        let rows = "q-a,s,E,elapsed,s,false,Acme,4,4220,2020-01-01\n\
            q-b,s,E,elapsed,s,false,Bolt,4,4000,2020-01-01\n";
        world.write("mine/own.csv", &format!("{head}{rows}"));
        world.write(
            "own.md",
            "+++\ntitle = \"T\"\nas_of = \"2020-01-01\"\n+++\nIt is {{ value(\"q-a\") }}.\n",
        );
        world.write("posts/own.md", POST);
        world.write("posts/own.toml", OWN);
        world.write(
            "a.md",
            "| System | ops/s |\n|---|---|\n| Acme | 4220 |\n| Bolt | 4000 |\n\n\
            The Acme has 5.5% more ops/s.\n",
        );
        let claims = |is: &str| {
            format!(
                "format = 1\ntext = \"a.md\"\n[[claim]]\nquote = \"5.5% more\"\nsays = \"5.5 %\"\n\
                is = '{is}'\n"
            )
        };
        let cell = |row: &str| format!("cell(\"table 1\", row=\"{row}\", column=\"ops/s\")");
        world.write(
            "claims.toml",
            &claims(&format!("more({}, than={})", cell("Acme"), cell("Bolt"))),
        );
        world.write("quoted.toml", &claims("more(\"q-a\", than=\"q-b\")"));
        world.write("state/serve.token", "unknown");
        world.write("result.json", "{ \"processors\": 4, \"expected_peak\": 2 }");
        let mut trace = String::from("==1== Lackey\n");
        for i in 0..2000 {
            let _ = write!(trace, "I  00401000,4\n L {:08x},8\n", 0x1000_0000 + i % 1000 * 4096);
        }
        world.write("a.trace", &(trace + "==1== Exit code: 0\n"));
        let snoop = "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms) FILE\n";
        let ios = "0.1 tar 10 sda R 0 4096 0.1 0.5 a\n0.6 cp 20 sda W 800 8192 0.1 1.5 b\n\
                   2.1 cp 20 sdb R 4000 4096 0.2 0.7 b\n2.7 dd 30 sdb W 9000 65536 0.1 9.5 c\n";
        world.write("snoop", &format!("{snoop}{ios}"));
        world.write("snoop2", &format!("{snoop}{}", ios.lines().next().unwrap()));
        world.write("stacks.folded", "main;a;b 5\nmain;c 3\nmain;d 1\n");
        for name in ["first", "second", "third"] {
            let run = ["run", "--quiet", "--blocks=3", "--monitors=none", "--name", name];
            let more = ["--tag", if name == "first" { "one" } else { "two" }];
            let done = world
                .run(&[&run[..], &more, &["--set=controls.nice=0,1,2", "--", "true"]].concat());
            assert!([0, 4].contains(&done.code), "{}", done.stderr);
        }
        let waits = format!("until [ -e {here}/go ]; do sleep 0.05; done\n");
        world.write("waits", &waits);
        let cut = ["run", "--name=cut", "--blocks=2", "--events=cut", "--", "sh", "waits"];
        let mut child = world.assay(&cut);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("the first trial runs", || {
            world.path("cut").metadata().ok().filter(|m| m.len() > 0)
        });
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        world.write("go", "");
        let done = world.run(&["archive", "export", "last", "-o", "bundle.tar.zst"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let listed = json(&world.run(&["archive", "list", "--json"]).stdout);
        let run = |name: &str| {
            let mut runs = listed.as_array().unwrap().iter();
            runs.find(|r| r["experiment"] == name).unwrap()["id"].as_str().unwrap().to_owned()
        };
        let [first, second, third, interrupted] = ["first", "second", "third", "cut"].map(run);
        let system = world.path(&format!("archive/runs/{third}/system.json"));
        let mut elsewhere = json(&fs::read_to_string(&system).unwrap());
        for fact in ["kernel.release", "host.name"] {
            elsewhere["facts"][fact]["value"] = "other".into();
        }
        fs::write(&system, elsewhere.to_string()).unwrap();
        assert_eq!(world.run(&["archive", "tag", &first, "added"]).code, 0);
        let done = world.run(&["history", "import", "nightly.csv"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let names = [
            ("{world}", here),
            ("{first}", first),
            ("{second}", second),
            ("{third}", third),
            ("{interrupted}", interrupted),
            ("{pid}", std::process::id().to_string()),
        ];
        let names = BTreeMap::from(names);
        Bench { world, names, made: Cell::new(0) }
    }

    /// Replaces the placeholders in the words.
    fn named(&self, words: &[&str]) -> Vec<String> {
        self.made.set(self.made.get() + 1);
        let named = |word: &&str| {
            let word = word.replace("{n}", &self.made.get().to_string());
            self.names.iter().fold(word, |word, (name, text)| word.replace(name, text))
        };
        words.iter().map(named).collect()
    }

    /// Runs a command after removing the files in which the options show.
    fn run(&self, words: &[&str], rows: &[Row]) -> Left<'_> {
        for (.., shows) in rows {
            if let File(name) = shows {
                let _ = fs::remove_file(self.world.path(name));
            }
        }
        let before: BTreeSet<_> = self.world.runs().into_iter().collect();
        let words = self.named(words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = self.world.run(&words);
        let mut new = self.world.runs();
        new.retain(|run| !before.contains(run));
        new.sort();
        let shown = |folder: &PathBuf| {
            let id = folder.file_name().unwrap().to_str().unwrap();
            json(&self.world.run(&["archive", "show", id, "--json"]).stdout)
        };
        let run = new.first().map(shown).unwrap_or_default();
        Left { world: &self.world, done, run }
    }
}

fn shown(left: &Left, row: &Row) -> String {
    match row.3 {
        Printed => format!("{} {} {}", left.done.code, left.done.stdout, left.done.stderr),
        File(name) => left.world.path(name).exists().to_string(),
        Part(part) => part(left),
        Refused => (left.done.code == 2).to_string(),
        End => left.done.code.to_string(),
    }
}

/// Returns the words of a command. If an option is given twice, the last one counts: `given` are
/// the options under test.
fn command<'a>(group: &'a Group, beside: &[&'a str], given: &'a [String]) -> Vec<&'a str> {
    let (beside, tail) = match beside.iter().position(|word| *word == "--") {
        Some(at) => beside.split_at(at),
        None => (beside, group.after),
    };
    let (options, last) = tail.split_at(tail.iter().position(|w| *w == "--").unwrap_or(tail.len()));
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let all = [group.before, options, beside, &given[..]].concat();
    let name = |word: &'a str| word.split('=').next().unwrap();
    let again =
        |at: usize| all[at + 1..].iter().any(|w| w.contains('=') && name(w) == name(all[at]));
    let mut words: Vec<&str> = group.verb.split(' ').collect();
    words.extend((0..all.len()).filter(|at| !again(*at)).map(|at| all[at]));
    words.extend(last.iter().copied());
    words
}

fn given(row: &Row) -> String {
    format!("--{}={}", row.0, row.1)
}

#[test]
fn every_value_changes_what_its_command_leaves() {
    let bench = Bench::new();
    let mut wrong = Vec::new();
    for group in GROUPS {
        let mut rows = group.together.concat();
        rows.retain(|row| group.each.iter().all(|each| each.0 != row.0));
        if !rows.is_empty() {
            let left = bench.run(&command(group, group.with, &[]), &rows);
            let without: Vec<String> = rows.iter().map(|row| shown(&left, row)).collect();
            let all: Vec<String> = rows.iter().map(given).collect();
            let left = bench.run(&command(group, group.with, &all), &rows);
            for (row, without) in rows.iter().zip(without) {
                if without == shown(&left, row) || left.done.code == 2 {
                    let (code, stderr) = (left.done.code, &left.done.stderr);
                    wrong.push(format!("{} {}: {without} {code} {stderr}", group.verb, given(row)));
                }
            }
        }
        let mut bases: BTreeMap<String, Left<'_>> = BTreeMap::new();
        for row in group.each {
            let option = [given(row)];
            let words = command(group, row.2, &option);
            if let End = row.3 {
                let mut child = bench.world.assay(&words).stdout(Stdio::null()).spawn().unwrap();
                let ended = eventually("the command ends", || child.try_wait().unwrap());
                assert!(ended.success(), "{words:?}");
                continue;
            }
            let base = command(group, row.2, &[]);
            let without = if let Printed = row.3 {
                let [first, again] = [(); 2].map(|()| shown(&bench.run(&base, &[]), row));
                assert_eq!(first, again, "{base:?} differs by itself");
                first
            } else {
                let left = bases.entry(base.join(" ")).or_insert_with(|| bench.run(&base, &[*row]));
                shown(left, row)
            };
            let left = bench.run(&words, &[*row]);
            let refused = left.done.code == 2 && !matches!(row.3, Refused);
            if without == shown(&left, row) || refused {
                wrong.push(format!("{words:?}: {without} {} {}", left.done.code, left.done.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "these options change nothing:\n{}", wrong.join("\n"));
}

#[test]
fn every_option_has_a_row() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/command-line.md");
    let page = fs::read_to_string(page).unwrap();
    let mut documented = BTreeSet::new();
    for section in page.split("\n#").skip(1) {
        let verb = section.lines().next().unwrap().trim_start_matches('#').trim();
        let verb = verb.trim_start_matches("assay ");
        documented.extend(values(section).into_iter().map(|option| (verb.to_owned(), option)));
    }
    // `--archive` is tested once for all verbs.
    let archive = |verb: &str| verb != "archive list";
    documented.retain(|(verb, option)| option != "archive" || !archive(verb));
    let mut known = BTreeSet::new();
    for group in GROUPS {
        for row in group.each.iter().chain(group.together.iter().copied().flatten()) {
            known.insert((group.verb.to_owned(), row.0.to_owned()));
        }
    }
    for (verbs, options, _) in UNSHOWN {
        let pairs =
            verbs.iter().flat_map(|v| options.iter().map(|o| ((*v).to_owned(), (*o).to_owned())));
        let here: Vec<_> = pairs.filter(|pair| documented.contains(pair)).collect();
        assert!(here.iter().all(|pair| known.insert(pair.clone())), "shown after all: {here:?}");
        assert!(here.len() >= verbs.len().max(options.len()), "gone: {verbs:?} {options:?}");
    }
    let lacks: Vec<_> = documented.difference(&known).collect();
    assert!(lacks.is_empty(), "no row for {lacks:?}");
    let gone: Vec<_> = known.difference(&documented).collect();
    assert!(gone.is_empty(), "no such option: {gone:?}");
    assert!(documented.len() > 200, "{}", documented.len());
}

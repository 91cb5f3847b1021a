//! What help shows beside the options: the verbs in groups, examples of each, and what bare `assay` prints. One
//! row a verb; the examples of [`VERBS`] run anywhere as they stand, in this order, which a test does.

use std::fmt::Write as _;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::screen::wrap_to;

/// What a verb is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Measure,
    LookInside,
    CompareAndPublish,
    Serve,
    Keep,
}

const GROUPS: [(Group, &str); 5] = [
    (Group::Measure, "Measure"),
    (Group::LookInside, "Look inside"),
    (Group::CompareAndPublish, "Compare and publish"),
    (Group::Serve, "Serve a team"),
    (Group::Keep, "Keep"),
];

/// A verb: its group, examples that run as they stand, others that need what only the user has, and a last word.
struct Verb {
    name: &'static str,
    group: Group,
    examples: &'static [&'static str],
    more: &'static [&'static str],
    note: &'static str,
}

const fn verb(
    name: &'static str,
    group: Group,
    examples: &'static [&'static str],
    more: &'static [&'static str],
    note: &'static str,
) -> Verb {
    Verb { name, group, examples, more, note }
}

/// Every verb that is listed, in the order of the list.
const VERBS: &[Verb] = &[
    verb(
        "run",
        Group::Measure,
        &["assay run noop --blocks 30", "assay run --blocks 8 --vs 'sleep 0.02' -- sleep 0.01"],
        &[
            "assay run experiments/block-size.toml",
            "assay run zstd --set level=1,3,9",
            "assay run --vs 'zstd -3 f' -- zstd -1 f",
        ],
        "",
    ),
    verb(
        "plan",
        Group::Measure,
        &["assay plan experiments/block-size.toml", "assay plan --vs 'sleep 0.02' -- sleep 0.01"],
        &[],
        "",
    ),
    verb(
        "gate",
        Group::CompareAndPublish,
        &[],
        &[
            "assay gate --base origin/main --build make -- ./prog 1000",
            "assay gate --base v1.2 --margin '3 %' --markdown gate.md bench.toml",
        ],
        "Exit code 5 when the revision is worse than its base by more than the margin.",
    ),
    verb(
        "history",
        Group::CompareAndPublish,
        &[],
        &[
            "assay history --rev v1..main:5 --build make --fill --confirm -- ./prog 1000",
            "assay history import csv nightly.csv",
            "assay history --imported nightly",
        ],
        "Exit code 5 when a change for the worse is confirmed and not acknowledged.",
    ),
    verb(
        "bisect",
        Group::CompareAndPublish,
        &[],
        &["assay bisect --good v1.2 --bad main --build make -- ./prog 1000"],
        "The same command takes up a search that was interrupted.",
    ),
    verb(
        "doctor",
        Group::Measure,
        &["assay doctor", "assay doctor --restore"],
        &["assay doctor --aa"],
        "",
    ),
    verb("workloads", Group::Measure, &["assay workloads", "assay workloads command"], &[], ""),
    verb(
        "vm",
        Group::Measure,
        &["assay vm list", "assay vm list --json"],
        &["assay vm build 6.1 6.12", "assay run experiments/memcached-kernels.toml"],
        "",
    ),
    verb("kit", Group::Measure, &["assay kit list", "assay kit check kits/zstd"], &[], ""),
    verb(
        "cpu",
        Group::Measure,
        &[],
        &["assay cpu result last", "assay cpu reference last"],
        "Both need a run of a suite: assay run experiments/cpu-int-quick.toml",
    ),
    verb(
        "stat",
        Group::LookInside,
        &["assay stat -n 2", "assay stat --disk -n 2", "assay stat --tasks -n 2"],
        &["assay stat --tasks --threads --pid 1234"],
        "",
    ),
    verb(
        "io",
        Group::LookInside,
        &["assay io --devices", "assay io -n 2"],
        &[
            "assay io --by program,direction --hist size -- make",
            "assay io --by file --write",
            "assay io --from sda --program oracle --write --by device --hist size",
            "perf script | assay io --from - --hist address --tick '1 s'",
        ],
        "",
    ),
    verb(
        "profile",
        Group::LookInside,
        &["assay profile -- ls", "assay profile --json -- ls"],
        &[
            "assay profile -o make.html -- make",
            "assay profile --pid 1234 --seconds 10 -o server.pb.gz",
            "assay profile --unwind dwarf -- make",
            "perf script | assay profile --from - -o perf.html",
        ],
        "Exit code 6 when programs cannot be profiled here, or nothing was seen. In an experiment: [observe] \
         tracers = [\"profile\"], and [\"instructions\"] to count instructions with Valgrind.",
    ),
    verb(
        "syscalls",
        Group::LookInside,
        &["assay syscalls -- ls", "assay syscalls --by call,kind -- ls"],
        &["assay syscalls --pid 1234 --seconds 10", "assay syscalls --by process -- make"],
        "Exit code 6 when system calls cannot be counted here, or none was made. In an experiment: [observe] \
         tracers = [\"syscalls\"].",
    ),
    verb(
        "tlb",
        Group::LookInside,
        &["assay tlb -- sleep 0.1", "assay tlb --json -- ls"],
        &[
            "valgrind --tool=lackey --trace-mem=yes --log-file=ls.trace ls",
            "assay tlb --simulate ls.trace --machine x86-64 --every 100000",
        ],
        "Exit code 6 when this machine has no counters to read.",
    ),
    verb(
        "explain",
        Group::LookInside,
        &["assay explain last", "assay explain last --json"],
        &["assay explain last --treatment threads=8"],
        "",
    ),
    verb(
        "compare",
        Group::CompareAndPublish,
        &["assay compare last", "assay compare last --metric user"],
        &["assay compare last before-upgrade --factor kernel.release"],
        "",
    ),
    verb(
        "publish",
        Group::CompareAndPublish,
        &["assay publish last --preview", "assay publish last -o page"],
        &[
            "assay publish posts/2009-06-12-memcached.md -o post",
            "assay publish --history -o history",
        ],
        "",
    ),
    verb(
        "reproduce",
        Group::CompareAndPublish,
        &[
            "assay reproduce posts --plan",
            "assay reproduce posts/2006-03-11-dd-sweep.md --budget 1s",
        ],
        &["assay reproduce posts/ --budget 2h -o reproduced"],
        "A claim that does not hold is an answer: the exit code is 0.",
    ),
    verb(
        "site",
        Group::CompareAndPublish,
        &["assay site -o site", "assay site --posts posts -o site"],
        &["assay site --posts posts --title 'Team X' --base-url https://example.org/perf/ -o site"],
        "The same command brings the site up to date: only what has changed is made again.",
    ),
    verb(
        "landscape",
        Group::CompareAndPublish,
        &["assay landscape", "assay landscape specjbb2005 --per watt --per core --matrix"],
        &["assay landscape memcached --with last -o memcached.html"],
        "",
    ),
    verb(
        "audit",
        Group::CompareAndPublish,
        &[
            "echo 'A took 10 s and B 15 s: A is 50 % faster.' | assay audit -",
            "echo 'A took 10 s and B 15 s: A is 80 % faster.' | assay audit -",
        ],
        &["assay audit page.html --results results.csv --only wrong,ambiguous"],
        "Exit code 4 when a claim is wrong.",
    ),
    verb(
        "rules",
        Group::CompareAndPublish,
        &["assay rules list", "assay rules show F31"],
        &["assay rules check last --profile publish"],
        "",
    ),
    verb(
        "serve",
        Group::Serve,
        &["assay serve --listen 127.0.0.1:0", "assay serve experiments --listen 127.0.0.1:0"],
        &[],
        "",
    ),
    verb(
        "submit",
        Group::Serve,
        &[
            "assay submit zstd-levels --at 2099-01-01T00:00:00Z",
            "assay submit block-size --at 2099-01-01T00:00:00Z --first",
        ],
        &[
            "assay submit experiments/zstd-levels.toml --set level=1,3 --blocks 6 --wait",
            "assay submit prog --every 'day at 02:00' --rev main",
        ],
        "Needs a server: assay serve. The token is read from the state folder, or from ASSAY_TOKEN.",
    ),
    verb("pending", Group::Serve, &["assay pending", "assay pending --json"], &[], ""),
    verb(
        "cancel",
        Group::Serve,
        &["assay cancel 1", "assay cancel 2 --json"],
        &["assay cancel s1"],
        "",
    ),
    verb("wait", Group::Serve, &["assay wait 1", "assay wait 2 --json"], &[], ""),
    verb(
        "resume",
        Group::Serve,
        &[],
        &["assay resume 7"],
        "A run that is in no queue: assay run --resume last",
    ),
    verb(
        "archive",
        Group::Keep,
        &["assay archive list", "assay archive show last", "assay archive verify"],
        &[
            "assay archive import results.json",
            "assay archive tag last baseline",
            "assay archive note last 'the fan was off'",
            "assay archive delete last",
        ],
        "",
    ),
    verb(
        "completions",
        Group::Keep,
        &["assay completions bash", "assay completions zsh"],
        &["assay completions fish > ~/.config/fish/completions/assay.fish"],
        "",
    ),
    verb(
        "man",
        Group::Keep,
        &["assay man -o man1", "assay man -o /tmp/assay-man"],
        &["man man1/assay-run.1"],
        "",
    ),
    verb(
        "schema",
        Group::Keep,
        &["assay schema -o schemas", "assay schema -o /tmp/assay-schemas"],
        &[],
        "",
    ),
];

/// The command line with its help as it is shown on a terminal of that many columns.
pub fn with_help(command: Command, columns: usize) -> Command {
    let groups = groups(&command, columns);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    );
    VERBS.iter().fold(command.help_template(template), |command, verb| {
        command.mut_subcommand(verb.name, |c| c.after_help(verb.after_help()))
    })
}

impl Verb {
    fn after_help(&self) -> String {
        let mut text = String::from("Examples:");
        for example in self.examples.iter().chain(self.more) {
            let _ = write!(text, "\n  {example}");
        }
        if !self.note.is_empty() {
            let _ = write!(text, "\n\n{}", self.note);
        }
        text
    }
}

/// The verbs in their groups, each with what it does, wrapped.
fn groups(command: &Command, columns: usize) -> String {
    let widest = VERBS.iter().map(|v| v.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (group, title) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for verb in VERBS.iter().filter(|v| v.group == group) {
            let about = command.find_subcommand(verb.name).and_then(Command::get_about);
            let first = format!("  {:<widest$}  ", verb.name);
            let rest = " ".repeat(first.len());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "{}", wrap_to(&about, &first, &rest, columns));
        }
        text.push('\n');
    }
    text
}

/// What bare `assay` prints.
pub const START: &str = "\
assay runs system benchmarks, watches the machine while they run, compares them
honestly, and publishes pages whose every number leads back to a run.

Three commands that work at once:
  assay run --blocks 8 --vs 'sleep 0.02' -- sleep 0.01   compare two commands
  assay stat -n 3                                        what the machine does
  assay doctor                                           is the machine quiet?

All verbs: assay --help; one of them, with examples: assay VERB --help
";

/// An error for a verb that is none, with the nearest that is; `None`: another error, which clap tells well.
pub fn unknown_verb(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let nearest = (error.kind() == ErrorKind::InvalidSubcommand)
        .then(|| assay_model::nearest(typed, VERBS.iter().map(|v| v.name)))?;
    Some(match nearest {
        Some(verb) => format!("error: there is no verb `{typed}`; did you mean `assay {verb}`?"),
        None => format!("error: there is no verb `{typed}`; `assay --help` lists them"),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_verb_that_is_not_internal_has_one_row_and_examples() {
        let command = Cli::command();
        let mut visible: Vec<&str> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name).collect();
        let mut rows: Vec<&str> = VERBS.iter().map(|v| v.name).collect();
        visible.sort_unstable();
        rows.sort_unstable();
        assert_eq!(rows, visible);
        for verb in VERBS {
            assert!(verb.examples.len() >= 2 || !verb.note.is_empty(), "{}", verb.name);
        }
    }

    #[test]
    fn the_list_fits_narrow_terminals_and_has_nothing_internal() {
        for columns in [40, 60, 80] {
            let command = with_help(Cli::command().term_width(columns), columns);
            let list = groups(&command, columns);
            assert!(list.lines().all(|l| l.chars().count() <= columns), "{list}");
            // Broken at blanks only: joined again it reads as the verbs say it.
            let joined = list.split_whitespace().collect::<Vec<_>>().join(" ");
            for verb in VERBS {
                let about = command.find_subcommand(verb.name).and_then(Command::get_about);
                assert!(joined.contains(&about.unwrap().to_string()), "{}", verb.name);
            }
            assert!(!command.clone().render_long_help().to_string().contains("__"));
        }
    }
}

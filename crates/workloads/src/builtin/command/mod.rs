//! The workload `command`: any command line. It runs directly, without a shell, unless a shell is
//! requested; then the start-up time of an empty shell is shown next to the result.

mod output;
mod placeholders;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use assay_model::{
    Better, Exit, Fact, MetricKind, MetricValue, ParamSpec, ParamType, Scalar, ValidationResult,
    WorkloadSpec,
};

use crate::capability::Calibratable;
use crate::declare::{rows, spec, text_of, wrong};
use crate::driver::process_metrics;
use crate::driver::program::{digest, fact, find_program, not_found};
use crate::driver::step::{Inherit, ProgramStep};
use crate::words::split_words;

use crate::{
    Capabilities, CollectedResults, FinishedProgram, Launch, TrialContext, Workload, WorkloadError,
};
pub use output::PRINTED;
pub use placeholders::is_placeholder;

type ParamMap = BTreeMap<String, Scalar>;

/// Time limit of the commands in `setup`, `prepare` and `conclude`.
const STEP_TIMEOUT: Duration = Duration::from_secs(600);

/// Name of the workload.
pub const NAME: &str = "command";

/// Runs one command line per trial. Metrics: `elapsed` (primary), `user`, `system`, `peak_memory`,
/// and `shell_startup` if a shell runs the command.
#[derive(Debug)]
pub struct Command;

fn rows() -> Vec<ParamSpec> {
    use ParamType::{Bool, Text};
    rows! {
        /// the command line that is measured
        "command", Text;
        /// a command line that runs once, before the first trial, and is not measured
        "setup", Text, "";
        /// a command line that runs before each trial and is not measured
        "prepare", Text, "";
        /// a command line that runs after each trial and is not measured
        "conclude", Text, "";
        /// the shell that runs the command lines, such as `sh`; empty: none, they are split into
        /// words and run directly
        "shell", Text, "";
        /// the folder in which the command lines run; empty: the folder where assay was started
        "folder", Text, "";
        /// a file that each trial reads from its start as standard input; empty: standard input is
        /// empty
        "stdin", Text, "";
        /// exit codes that count as success, separated by commas
        "exit_codes", Text, "0";
        /// if true, every exit code counts as success
        "ignore_failure", Bool, Scalar::Bool(false);
        /// the tool whose output has the benchmarks, such as `go-bench`; `auto` recognizes it;
        /// empty: the output is not read
        "reader", Text, "";
        /// the file that the tool writes in each trial, for `reader`; empty: its standard output
        "result_file", Text, "";
        /// the place of a number in the output, which becomes the metric `printed`: text with
        /// `{value}`, or a regular expression with one group
        "metric_from", Text, "";
        /// the better direction of `printed`: `lower` or `higher`; empty: none
        "better", Text, "";
        /// a command line that reads each trial's output as standard input and fails if it is wrong
        "check", Text, "";
        /// a file with the only correct output
        "expect", Text, "";
    }
}

spec! {
    /// runs any command line
    NAME, rows();
    ..process_metrics::specs();
    /// wall time of an empty shell, started just before the trial; `elapsed` includes such a start
    "shell_startup", "s", Neither, Measured;
}

/// Returns the argument list of a command line: its words, or the shell's words, `-c` and the line.
/// `{name}` is replaced by the value of a parameter of the user's.
fn argv(line: &str, params: &ParamMap) -> Result<Vec<OsString>, WorkloadError> {
    let split = |what: &str, line: &str| {
        split_words(line).map_err(|e| wrong(format!("{what} `{line}`: {e}")))
    };
    let shell = text_of(params, "shell");
    if shell.trim().is_empty() {
        let words = split("command", line)?;
        return Ok(words.into_iter().map(|word| placeholders::fill(word, params)).collect());
    }
    let mut words = split("shell", &shell)?;
    words.push("-c".into());
    words.push(placeholders::fill_shell(line, params)?.into());
    Ok(words)
}

/// Returns the folder in which the command lines run: the one where assay was started, or `folder`
/// relative to it.
fn folder(params: &BTreeMap<String, Scalar>) -> Result<PathBuf, WorkloadError> {
    // assay never changes its working directory, so it is read only once.
    static START: OnceLock<PathBuf> = OnceLock::new();
    let start = if let Some(start) = START.get() {
        start
    } else {
        let start = std::env::current_dir().map_err(WorkloadError::io("read", Path::new(".")))?;
        START.get_or_init(|| start)
    };
    let named = text_of(params, "folder");
    if named.is_empty() {
        return Ok(start.clone());
    }
    let folder = start.join(&named);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(wrong(format!("`folder` is {named}, which does not exist")))
}

/// Returns the file for standard input, if one is set.
fn stdin(params: &BTreeMap<String, Scalar>) -> Result<Option<PathBuf>, WorkloadError> {
    let named = text_of(params, "stdin");
    Ok(if named.is_empty() { None } else { Some(folder(params)?.join(&named)) })
}

fn program_of(params: &BTreeMap<String, Scalar>, which: &str) -> Result<PathBuf, WorkloadError> {
    let words = argv(&text_of(params, which), params)?;
    let program =
        words.first().ok_or_else(|| wrong(format!("`{which}` is empty; give a command line")))?;
    let here = folder(params)?;
    find_program(program, &here).ok_or_else(|| {
        let what = format!("the program `{}` of `{which}`", program.to_string_lossy());
        not_found(what, program, &here)
    })
}

/// Returns the exit codes that count as success.
fn exit_codes(params: &BTreeMap<String, Scalar>) -> Result<Vec<i32>, WorkloadError> {
    let text = text_of(params, "exit_codes");
    let one = |word: &str| {
        let code = word.trim().parse::<u8>().map(i32::from);
        code.map_err(|_| {
            wrong(format!("`exit_codes` is {text}; write codes from 0 to 255 with commas: 0,1"))
        })
    };
    text.split(',').map(one).collect()
}

/// Runs `setup` if it is set and has not run in this run.
fn set_up(ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
    let line = text_of(ctx.params, "setup");
    if line.trim().is_empty() {
        return Ok(());
    }
    let argv = argv(&line, ctx.params)?;
    let folder = folder(ctx.params)?;
    let mut hash = DefaultHasher::new();
    (&argv, &folder).hash(&mut hash);
    let done = ctx.run_dir.join(format!("setup-{:016x}.done", hash.finish()));
    if done.exists() {
        return Ok(());
    }
    let log = done.with_extension("log");
    let step = ProgramStep::new("setup", &argv, &folder, &log, STEP_TIMEOUT);
    ProgramStep { inherit: Inherit::All, ..step }.run()?;
    std::fs::write(&done, "").map_err(WorkloadError::io("write", &done))
}

/// Runs `prepare` or `conclude` if it is set.
fn side_step(ctx: &TrialContext<'_>, which: &'static str) -> Result<(), WorkloadError> {
    let line = text_of(ctx.params, which);
    if line.trim().is_empty() {
        return Ok(());
    }
    let argv = argv(&line, ctx.params)?;
    let (folder, log) = (folder(ctx.params)?, ctx.trial_dir.join(format!("{which}.log")));
    let step = ProgramStep::new(which, &argv, &folder, &log, STEP_TIMEOUT);
    ProgramStep { inherit: Inherit::All, env: &ctx.variables(), ..step }.run()
}

impl Workload for Command {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        exit_codes(params)?;
        output::check(params)?;
        if let Some(file) = stdin(params)? {
            let named = text_of(params, "stdin");
            let failed = |e| wrong(format!("`stdin` is {named}, which cannot be opened: {e}"));
            std::fs::File::open(&file).map_err(failed)?;
        }
        for which in ["command", "setup", "prepare", "conclude", "check"] {
            let line = text_of(params, which);
            if which == "command" && line.trim().is_empty() {
                return Err(wrong("`command` is empty; give a command line"));
            }
            if !line.trim().is_empty() {
                program_of(params, which)?;
            }
        }
        Ok(())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let folder = folder(params).map(|d| d.display().to_string()).map_err(|e| e.to_string());
        let (program, sha256) = match program_of(params, "command") {
            Ok(path) => (Fact::known(path.display().to_string()), digest(&path)),
            Err(e) => (Fact::unknown(e.to_string()), Fact::unknown(e.to_string())),
        };
        BTreeMap::from([
            ("workload.command.folder".into(), fact(folder)),
            ("workload.command.program".into(), program),
            ("workload.command.sha256".into(), sha256),
        ])
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        set_up(ctx).map_err(|e| WorkloadError::Once(Box::new(e)))?;
        side_step(ctx, "prepare")?;
        output::start(ctx)
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let argv = argv(&text_of(ctx.params, "command"), ctx.params)?;
        let (cwd, stdin) = (Some(folder(ctx.params)?), stdin(ctx.params)?);
        Ok(Launch { argv, cwd, stdin, ..Launch::default() })
    }

    fn collect(
        &self,
        ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        side_step(ctx, "conclude")?;
        let mut notes = Vec::new();
        let mut metrics = process_metrics::values(finished.resources);
        if !text_of(ctx.params, "shell").trim().is_empty() {
            let (better, kind) = (Better::Neither, MetricKind::Measured);
            metrics.push(MetricValue::new("shell_startup", finished.empty_s, "s", better, kind));
            notes.extend(shell_note(finished));
        }
        let read = output::collect(ctx, finished)?;
        metrics.extend(read.metrics);
        notes.extend(read.notes);
        let ignore = ctx.params.get("ignore_failure").and_then(Scalar::as_bool) == Some(true);
        let (detail, passes) = match finished.exit {
            Exit::Code(0) if exit_codes(ctx.params)?.contains(&0) => (String::new(), None),
            Exit::Code(code) => {
                let listed = exit_codes(ctx.params)?.contains(&code).then_some("exit_codes");
                (format!("exit code {code}"), Some(listed))
            }
            Exit::Signal(signal) => (format!("ended by signal {signal}"), Some(None)),
        };
        let validation = match passes.map(|by| by.or(ignore.then_some("ignore_failure"))) {
            Some(None) => ValidationResult::Failed { detail },
            Some(Some(by)) => {
                notes.push(format!("{detail}, which `{by}` accepts"));
                ValidationResult::ExitCodeOnly
            }
            None => ValidationResult::ExitCodeOnly,
        };
        let checked = ["check", "expect"].iter().any(|p| !text_of(ctx.params, p).is_empty());
        let validation = match (validation, read.failure) {
            (failed @ ValidationResult::Failed { .. }, _) => failed,
            (_, Some(detail)) => ValidationResult::Failed { detail },
            (_, None) if checked => {
                ValidationResult::Passed { detail: "the output is as expected".into() }
            }
            (passed, None) => passed,
        };
        Ok(CollectedResults { metrics, validation, notes, evidence: read.evidence })
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { calibrates: Some(self), ..Capabilities::default() }
    }
}

impl Calibratable for Command {
    fn empty_launch(&self, params: &BTreeMap<String, Scalar>) -> Option<Launch> {
        let shell = text_of(params, "shell");
        if shell.trim().is_empty() {
            return None;
        }
        let argv = argv("", params).ok()?;
        Some(Launch { argv, cwd: folder(params).ok(), ..Launch::default() })
    }
}

/// Returns a note if the shell's share of the wall time is large or unknown.
fn shell_note(finished: &FinishedProgram<'_>) -> Option<String> {
    let note = match finished.empty_s {
        None => "the start-up of an empty shell could not be measured",
        Some(empty_s) if empty_s >= finished.resources.wall_s / 2.0 => {
            "at least half of `elapsed` is the start-up of the shell; run the command without a \
            shell to measure it"
        }
        Some(_) => return None,
    };
    Some(note.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::ResourceUse;

    fn params(rows: &[(&str, &str)]) -> BTreeMap<String, Scalar> {
        let mut all: BTreeMap<String, Scalar> = Command
            .spec()
            .params
            .iter()
            .filter_map(|p| Some((p.name.clone(), p.default.clone()?)))
            .collect();
        all.extend(rows.iter().map(|(k, v)| ((*k).to_owned(), Scalar::parse(v))));
        all
    }

    fn with_context<T>(
        params: &BTreeMap<String, Scalar>,
        then: impl FnOnce(&TrialContext<'_>) -> T,
    ) -> T {
        let dir = tempfile::tempdir().unwrap();
        then(&TrialContext {
            number: 1,
            block: 0,
            treatment: 0,
            params,
            cpus: &[0],
            trial_dir: dir.path(),
            run_dir: dir.path(),
            cache_dir: dir.path(),
            exe: Path::new("/nonexistent/assay"),
            previous: &[],
        })
    }

    fn finished(resources: &ResourceUse, code: i32, shell_s: Option<f64>) -> FinishedProgram<'_> {
        FinishedProgram {
            exit: Exit::Code(code),
            resources,
            stdout: b"",
            stderr: b"",
            stdout_whole: true,
            empty_s: shell_s,
        }
    }

    const USE: ResourceUse = ResourceUse {
        wall_s: 0.5,
        user_s: 0.25,
        system_s: 0.125,
        peak_memory_bytes: None,
        major_faults: 0,
        minor_faults: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        storage_read_bytes: None,
        storage_written_bytes: None,
        group: None,
    };

    fn collect(
        params: &BTreeMap<String, Scalar>,
        code: i32,
        shell: Option<f64>,
    ) -> CollectedResults {
        with_context(params, |ctx| Command.collect(ctx, &finished(&USE, code, shell))).unwrap()
    }

    fn value(collected: &CollectedResults, name: &str) -> Option<f64> {
        collected.metrics.iter().find(|m| m.name == name).unwrap().value
    }

    #[test]
    fn runs_directly_or_through_a_shell() {
        let direct = params(&[("command", "printf '%s' 'a b'")]);
        let launch = with_context(&direct, |ctx| Command.launch(ctx)).unwrap();
        assert_eq!(
            (launch.argv, launch.stdin),
            (vec!["printf".into(), "%s".into(), "a b".into()], None)
        );
        assert!(Command.empty_launch(&direct).is_none());
        let shell = params(&[("command", "ls | wc"), ("shell", "sh -e")]);
        let launch = with_context(&shell, |ctx| Command.launch(ctx)).unwrap();
        assert_eq!(launch.argv, ["sh", "-e", "-c", "ls | wc"]);
        assert_eq!(Command.empty_launch(&shell).unwrap().argv, ["sh", "-e", "-c", ""]);
    }

    #[test]
    fn what_cannot_run_is_reported_before_the_plan() {
        let check = |rows: &[(&str, &str)]| Command.check(&params(rows));
        assert!(check(&[("command", "true")]).is_ok());
        assert!(matches!(check(&[("command", " ")]), Err(WorkloadError::Param(_))));
        let error = check(&[("command", "ls | wc")]).unwrap_err().to_string();
        assert!(error.contains("shell = \"sh\""), "{error}");
        let missing = check(&[("command", "true"), ("prepare", "no-such-program-anywhere")]);
        assert!(matches!(missing, Err(WorkloadError::Missing { .. })));
    }

    #[test]
    fn the_shells_start_up_stands_beside_the_result() {
        let shell = params(&[("command", "true"), ("shell", "sh")]);
        let known = collect(&shell, 0, Some(0.125));
        assert_eq!(value(&known, "elapsed"), Some(0.5));
        assert_eq!(value(&known, "user"), Some(0.25));
        assert_eq!(value(&known, "shell_startup"), Some(0.125));
        assert!(
            known.metrics.iter().all(|m| m.kind == MetricKind::Measured) && known.notes.is_empty()
        );
        let mostly_shell = collect(&shell, 0, Some(0.25));
        assert!(mostly_shell.notes[0].contains("without a shell"), "{:?}", mostly_shell.notes);
        let unknown = collect(&shell, 0, None);
        assert_eq!((value(&unknown, "elapsed"), unknown.notes.len()), (Some(0.5), 1));
        assert_eq!(value(&unknown, "shell_startup"), None);
        let direct = collect(&params(&[("command", "true")]), 0, None);
        assert_eq!(value(&direct, "elapsed"), Some(0.5));
        assert_eq!(value(&direct, "peak_memory"), None);
    }

    #[test]
    fn a_failure_counts_unless_it_is_ignored() {
        let strict = collect(&params(&[("command", "false")]), 3, None);
        assert_eq!(strict.validation, ValidationResult::Failed { detail: "exit code 3".into() });
        let lax = collect(&params(&[("command", "false"), ("ignore_failure", "true")]), 3, None);
        assert_eq!(lax.validation, ValidationResult::ExitCodeOnly);
        assert!(lax.notes[0].contains("exit code 3"));
    }

    #[test]
    fn side_steps_run_and_their_failures_are_reported() {
        let bad = params(&[("command", "true"), ("prepare", "echo no; exit 7"), ("shell", "sh")]);
        let error = with_context(&bad, |ctx| Command.prepare(ctx)).unwrap_err();
        assert!(error.to_string().contains("exit code 7; its last lines:\nno"), "{error}");
        let bad = params(&[("command", "true"), ("conclude", "false")]);
        let error = with_context(&bad, |ctx| Command.collect(ctx, &finished(&USE, 0, None)));
        assert!(error.unwrap_err().to_string().starts_with("conclude failed"));
        assert!(with_context(&params(&[("command", "true")]), |c| Command.prepare(c)).is_ok());
    }

    #[test]
    fn the_program_is_described() {
        let facts = Command.describe(&params(&[("command", "sh -c ''")]));
        assert!(facts["workload.command.program"].value().unwrap().ends_with("/sh"));
        assert_eq!(facts["workload.command.sha256"].value().unwrap().len(), 64);
        let facts = Command.describe(&params(&[("command", "no-such-program-anywhere")]));
        assert!(facts["workload.command.sha256"].value().is_none());
    }
}

//! A suite: a folder with `suite.toml` and a kit for each member below it. It builds a member with
//! the compilers and flags of a toolchain, runs it alone (speed) or in several concurrent copies
//! (rate), validates every copy's output, and reports the ratio to a reference.

mod file;
mod members;
mod spec;
mod toolchain;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{Exit, Fact, Observation, Scalar, ValidationResult, WorkloadSpec};

pub use file::{FILE, Reference, SuiteFile};
use members::{ChosenMember, Members};

use crate::capability::{Buildable, Capabilities};
use crate::declare::{text_of, wrong};
use crate::driver::program::digest;
use crate::driver::side_by_side::{self, CopySpec, ReplicasSpec};
use crate::{CollectedResults, FinishedProgram, Launch, TrialContext, Workload, WorkloadError};

/// Maximum size of a copy's output in bytes.
const OUTPUT_LIMIT: u64 = 64 << 20;

/// A suite of programs as a workload.
pub struct Suite {
    spec: WorkloadSpec,
    file: SuiteFile,
    dir: PathBuf,
    members: Members,
}

impl Suite {
    /// Reads the suite in the folder `dir` with all its members.
    ///
    /// # Errors
    /// Fails if `suite.toml` or a member's `kit.toml` has a mistake.
    pub fn load(dir: &Path, cache_dir: Option<&Path>) -> Result<Self, WorkloadError> {
        let dir = fs::canonicalize(dir).map_err(WorkloadError::io("read", dir))?;
        let file = file::suite(&dir)?;
        let members = Members::load(&dir, &file.members, cache_dir)?;
        Ok(Suite { spec: spec::spec(&file), file, dir, members })
    }

    fn chosen(&self, params: &BTreeMap<String, Scalar>) -> Result<ChosenMember<'_>, WorkloadError> {
        self.members.choose(&self.dir, params)
    }

    /// Returns the CPUs of copy `index`; empty: those of the trial.
    fn cpus(params: &BTreeMap<String, Scalar>, all: &[usize], index: usize) -> Vec<usize> {
        let pin = params.get("pin").and_then(Scalar::as_bool).unwrap_or(true);
        if !pin || all.is_empty() {
            return Vec::new();
        }
        if text_of(params, "kind") == "rate" {
            return vec![all[index % all.len()]];
        }
        all[..number(params, "threads").min(all.len())].to_vec()
    }
}

fn number(params: &BTreeMap<String, Scalar>, name: &str) -> usize {
    let number = params.get(name).and_then(Scalar::as_i64);
    number.and_then(|n| usize::try_from(n).ok()).unwrap_or(1).max(1)
}

fn copy_dir(ctx: &TrialContext<'_>, index: usize) -> PathBuf {
    ctx.trial_dir.join(format!("copy-{}", index + 1))
}

/// Converts an argument or path to text, because the spec of the copies is JSON.
fn utf8(word: OsString) -> Result<String, WorkloadError> {
    word.into_string()
        .map_err(|w| wrong(format!("`{}` is not UTF-8; use a path that is", w.to_string_lossy())))
}

impl Buildable for Suite {
    fn build(
        &self,
        params: &BTreeMap<String, Scalar>,
        cache_dir: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), WorkloadError> {
        let chosen = self.chosen(params)?;
        chosen.kit.build(&chosen.params, cache_dir, say)
    }
}

impl Workload for Suite {
    fn spec(&self) -> &WorkloadSpec {
        &self.spec
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let copies = number(params, "copies");
        if text_of(params, "kind") == "speed" && copies != 1 {
            return Err(wrong(format!(
                "`copies` is {copies} and `kind` is speed; speed runs one copy: set `kind` to rate"
            )));
        }
        let chosen = self.chosen(params)?;
        chosen.kit.check(&chosen.params)
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let mut facts = BTreeMap::new();
        let mut known = |name: &str, value: &str| {
            facts.insert(format!("workload.suite.{name}"), Fact::known(value));
        };
        known("name", &self.file.name);
        known("version", &self.file.version);
        known("reference.machine", &self.file.reference.machine);
        known("reference.date", &self.file.reference.date);
        facts.insert("workload.suite.sha256".into(), digest(&self.dir.join(FILE)));
        let toolchain = toolchain::path(&text_of(params, "toolchain"), &self.dir);
        facts.insert("workload.suite.toolchain.sha256".into(), digest(&toolchain));
        match self.chosen(params) {
            Err(e) => {
                facts.insert("workload.suite.flags".into(), Fact::unknown(e.to_string()));
            }
            Ok(chosen) => {
                for (name, value) in chosen.build() {
                    facts.insert(format!("workload.suite.build.{name}"), Fact::known(value));
                }
                let undescribed = Fact::known(chosen.undescribed(&self.file).join(" "));
                facts.insert("workload.suite.undescribed_flags".into(), undescribed);
                let help = Fact::known(&chosen.toolchain);
                facts.insert("workload.suite.toolchain.help".into(), help);
                facts.extend(chosen.kit.describe(&chosen.params));
            }
        }
        facts
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, kit) in self.members.all() {
            lines.extend(kit.lines().into_iter().map(|line| format!("{name}: {line}")));
        }
        lines
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { builds: Some(self), ..Capabilities::default() }
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let chosen = self.chosen(ctx.params)?;
        for index in 0..number(ctx.params, "copies") {
            let dir = copy_dir(ctx, index);
            fs::create_dir_all(&dir).map_err(WorkloadError::io("create", &dir))?;
            let cpus = Suite::cpus(ctx.params, ctx.cpus, index);
            chosen.kit.prepare(&chosen.context(ctx, &dir, &cpus))?;
        }
        Ok(())
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let chosen = self.chosen(ctx.params)?;
        let member = text_of(ctx.params, "member");
        let mut spec = ReplicasSpec {
            dir: ctx.trial_dir.to_owned(),
            lab: std::process::id(),
            copies: Vec::new(),
            reference_s: self.file.reference.time(&text_of(ctx.params, "size"), &member),
        };
        for index in 0..number(ctx.params, "copies") {
            let dir = copy_dir(ctx, index);
            let cpus = Suite::cpus(ctx.params, ctx.cpus, index);
            let launch = chosen.kit.launch(&chosen.context(ctx, &dir, &cpus))?;
            let argv = launch.argv.into_iter().map(utf8).collect::<Result<_, _>>()?;
            let mut env =
                vec![("OMP_NUM_THREADS".into(), number(ctx.params, "threads").to_string())];
            for (name, value) in launch.env {
                env.push((utf8(name)?, utf8(value)?));
            }
            spec.copies.push(CopySpec { argv, env, dir, stdin: launch.stdin, cpus });
        }
        let path = ctx.trial_dir.join("copies.json");
        let json = serde_json::to_vec(&spec)
            .map_err(|e| wrong(format!("the order of the copies: {e}")))?;
        fs::write(&path, json).map_err(WorkloadError::io("write", &path))?;
        let argv = vec![ctx.exe.into(), "__work".into(), side_by_side::CREW.into(), path.into()];
        Ok(Launch { argv, protocol: true, ..Launch::default() })
    }

    fn collect(
        &self,
        ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        let failed = |detail| ValidationResult::Failed { detail };
        let chosen = self.chosen(ctx.params)?;
        let notes = chosen.notes(&self.file);
        let mut collected = CollectedResults { notes, ..CollectedResults::default() };
        if finished.exit != Exit::Code(0) {
            collected.validation = failed("a copy failed".into());
            return Ok(collected);
        }
        let copies = number(ctx.params, "copies");
        let (count, cpus) = (copies as u32, ctx.cpus.len() as u32);
        collected.evidence.push(Observation::Crowding { what: "copies".into(), count, cpus });
        for index in 0..copies {
            let dir = copy_dir(ctx, index);
            let cpus = Suite::cpus(ctx.params, ctx.cpus, index);
            let (stdout, whole) = output(&dir.join("stdout"))?;
            let (stderr, _) = output(&dir.join("stderr"))?;
            let one = FinishedProgram {
                exit: Exit::Code(0),
                resources: finished.resources,
                stdout: &stdout,
                stderr: &stderr,
                stdout_whole: whole,
                empty_s: None,
            };
            let found = chosen.kit.collect(&chosen.context(ctx, &dir, &cpus), &one)?;
            if index == 0 {
                // Hashes of the build products are recorded once; the kit's own metrics would be
                // those of one copy.
                collected.notes.extend(found.notes);
                collected.evidence.extend(found.evidence);
            }
            collected.validation = match found.validation {
                ValidationResult::Failed { detail } => {
                    let copy = index + 1;
                    collected.validation = failed(format!("copy {copy} of {copies}: {detail}"));
                    return Ok(collected);
                }
                right => right,
            };
        }
        Ok(collected)
    }
}

/// Returns the first [`OUTPUT_LIMIT`] bytes of a copy's output, and true if that is all of it.
fn output(path: &Path) -> Result<(Vec<u8>, bool), WorkloadError> {
    use std::io::Read as _;
    let file = fs::File::open(path).map_err(WorkloadError::io("read", path))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_LIMIT + 1).read_to_end(&mut bytes).map_err(WorkloadError::io("read", path))?;
    let whole = bytes.len() as u64 <= OUTPUT_LIMIT;
    bytes.truncate(OUTPUT_LIMIT as usize);
    Ok((bytes, whole))
}

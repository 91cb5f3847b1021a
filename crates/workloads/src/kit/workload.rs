//! The workload that a kit's folder defines.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_model::{
    Fact, MetricSpec, MetricValue, Observation, ParamType, Scalar, WorkloadSpec, units,
};
use toml::Spanned;

use super::build::{self, BuiltKit};
use super::format::{Command, KitFile, KitText, param_spec};
use super::load::{self, LoadedKit};
use super::template::{Values, render, render_command, shown};
use super::{fetch, metrics, result, validate};
use crate::capability::{Buildable, Capabilities};
use crate::driver::program::{fact, find_program, version_line};
use crate::error::Result;
use crate::problem::{Mistake, Problem};
use crate::{CollectedResults, FinishedProgram, Launch, TrialContext, Workload, WorkloadError};
use assay_system::sha256;

/// Default time limit of a kit's commands.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A kit: an outside program as a workload.
pub struct Kit {
    spec: WorkloadSpec,
    file: KitFile,
    dir: PathBuf,
    shared: Option<PathBuf>,
    digest: String,
    cache_dir: Option<PathBuf>,
    known: Mutex<KitCache>,
}

/// Facts that were determined in this process and are cached for its lifetime.
#[derive(Default)]
struct KitCache {
    versions: BTreeMap<Vec<OsString>, Result<String, String>>,
    fetched: bool,
    built: BTreeMap<PathBuf, BuiltKit>,
}

/// A needed program that was found on this machine.
struct FoundProgram {
    path: PathBuf,
    /// Version line, or the reason why it is missing.
    version: Result<String, String>,
}

impl Kit {
    /// Reads the kit in the folder `dir`. With `cache_dir`, the folder where runs keep fetched and
    /// built files, [`Workload::describe`] can return the hashes of the products there.
    ///
    /// # Errors
    /// Returns the first mistake in its `kit.toml`; [`check`](super::check) returns all.
    pub fn load(dir: &Path, cache_dir: Option<&Path>) -> Result<Self> {
        let LoadedKit { dir, file, shared, digest } = load::read(dir).map_err(load::error)?;
        let kit_error = |e: Mistake| Problem::whole(&dir.join(load::FILE), e.message);
        let params =
            file.param.iter().map(param_spec).collect::<Result<_, _>>().map_err(kit_error)?;
        let metrics = file
            .metric
            .iter()
            .map(|row| MetricSpec {
                name: row.name.get_ref().clone(),
                unit: row.unit.get_ref().clone(),
                better: row.better,
                kind: metrics::kind(row),
                help: row.help.clone(),
                merge: row.merge.or(metrics::merge(row.from)),
                counted: metrics::counted(&file.metric, row),
            })
            .collect();
        let spec = WorkloadSpec {
            name: file.name.get_ref().clone(),
            help: file.help.clone(),
            params,
            metrics,
            suite: None,
        };
        let cache_dir = cache_dir.map(Path::to_owned);
        Ok(Kit { spec, file, dir, shared, digest, cache_dir, known: Mutex::default() })
    }

    fn known<T>(&self, read: impl FnOnce(&mut KitCache) -> T) -> T {
        read(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn kit_cache(&self, cache_dir: &Path) -> PathBuf {
        cache_dir.join("kits").join(&self.spec.name)
    }

    /// Returns every parameter as the program gets it: sizes in bytes, durations in seconds.
    fn param_values(&self, params: &BTreeMap<String, Scalar>) -> Result<Values> {
        let mut values = Values::new();
        for spec in &self.spec.params {
            let Some(value) = params.get(&spec.name).or(spec.default.as_ref()) else {
                return Err(WorkloadError::Param(format!("`{}` is not given", spec.name)));
            };
            spec.check(value).map_err(crate::declare::wrong)?;
            let wrong = |e: units::UnitError| WorkloadError::Param(e.to_string());
            let text = match spec.ty {
                ParamType::Bytes => units::bytes_of(value).map_err(wrong)?.to_string(),
                ParamType::Duration => {
                    units::duration_of(value).map_err(wrong)?.as_secs_f64().to_string()
                }
                ParamType::Bool => (value.as_bool() == Some(true)).to_string(),
                _ => value.to_text(),
            };
            values.insert(spec.name.clone(), text.into());
        }
        Ok(values)
    }

    /// Returns the values of the parameters, `{kit}`, `{shared}`, `{jobs}`, `{fetch}` and
    /// `{build}`. Does not fetch or build anything.
    fn build_values(&self, params: &BTreeMap<String, Scalar>, cache_dir: &Path) -> Result<Values> {
        let mut values = self.param_values(params)?;
        let kit_cache = self.kit_cache(cache_dir);
        if let Some(build) = &self.file.build {
            let mut key = self.digest.clone();
            let inputs = build::inputs(&build.steps, &build.env, &values, &[]);
            key.push_str(&inputs?);
            for FoundProgram { path, version } in self.needs(&values)? {
                let _ = writeln!(key, "{} {version:?}", path.display());
            }
            values.insert("build".into(), build::folder(&kit_cache, &key).into());
        }
        if !self.file.fetch.is_empty() {
            values.insert("fetch".into(), fetch::folder(&kit_cache, &self.file.fetch).into());
        }
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        values.insert("jobs".into(), jobs.to_string().into());
        values.insert("kit".into(), self.dir.clone().into());
        values.extend(self.shared.iter().map(|dir| ("shared".to_owned(), dir.into())));
        Ok(values)
    }

    /// Returns the programs that the kit needs, in the order of the file.
    fn needs(&self, values: &Values) -> Result<Vec<FoundProgram>> {
        let mut found = Vec::new();
        for need in &self.file.need {
            let program = render(need.program.get_ref(), values)?;
            let path = find_program(&program, &self.dir).ok_or_else(|| WorkloadError::Missing {
                what: format!("the program `{}`", program.to_string_lossy()),
                remedy: format!("install the Debian package {}", need.package),
            })?;
            let args: Vec<OsString> = need.version.iter().map(OsString::from).collect();
            let key = [vec![path.clone().into()], args.clone()].concat();
            let version = self.known(|known| {
                let read = || version_line(&path, &args).map_err(String::from);
                known.versions.entry(key).or_insert_with(read).clone()
            });
            found.push(FoundProgram { path, version });
        }
        Ok(found)
    }

    /// Returns all values of a trial without creating any file or folder.
    fn trial_values(&self, ctx: &TrialContext<'_>) -> Result<Values> {
        let mut values = self.build_values(ctx.params, ctx.cache_dir)?;
        let prepare = &self.file.prepare;
        values.insert("run_dir".into(), ctx.run_dir.into());
        let inputs = build::inputs(&prepare.run, &prepare.env, &values, &["input", "jobs"]);
        // The members of a suite share the run's folder and may use the same parameters.
        let inputs = format!("{}\n{}", self.digest, inputs?);
        let key = sha256(inputs.as_bytes());
        values.insert("input".into(), ctx.run_dir.join(format!("input-{}", &key[..16])).into());
        let cpus: Vec<String> = ctx.cpus.iter().map(ToString::to_string).collect();
        values.insert("cpus".into(), cpus.join(",").into());
        values.insert("cpu_count".into(), ctx.cpus.len().to_string().into());
        values.insert("trial_dir".into(), ctx.trial_dir.into());
        values.insert("trial".into(), ctx.number.to_string().into());
        Ok(values)
    }

    fn fetch_and_build(&self, cache_dir: &Path, values: &Values) -> Result<()> {
        let name = &self.spec.name;
        if !self.file.fetch.is_empty() && !self.known(|known| known.fetched) {
            fetch::ensure(name, &self.file.fetch, &self.kit_cache(cache_dir), cache_dir)?;
            self.known(|known| known.fetched = true);
        }
        let (Some(build), Some(dir)) = (&self.file.build, values.get("build").map(PathBuf::from))
        else {
            return Ok(());
        };
        if !self.known(|known| known.built.contains_key(&dir)) {
            let timeout = timeout(build.timeout.as_deref())?;
            let built = build::ensure(name, build, &dir, values, timeout)?;
            self.known(|known| known.built.insert(dir, built));
        }
        Ok(())
    }

    /// Returns the tools and commands of the build as evidence. Folders of this machine remain
    /// placeholders, so that equal builds have equal commands.
    fn build_evidence(&self, values: &Values) -> Result<Option<Observation>> {
        let Some(build) = &self.file.build else { return Ok(None) };
        let mut shown = values.clone();
        for folder in ["build", "fetch", "kit", "shared", "jobs"] {
            if let Some(value) = shown.get_mut(folder) {
                *value = format!("{{{folder}}}").into();
            }
        }
        let words = |command: &Command| {
            let rendered = render_command(command, &build.env, &shown);
            rendered.map(|r| crate::words::quote_words(&r.argv))
        };
        let commands = build.steps.iter().map(words).collect::<Result<_, _>>()?;
        let needs = self.needs(values)?;
        let tools = needs.into_iter().filter_map(|found| found.version.ok()).collect();
        Ok(Some(Observation::Build { tools, commands }))
    }

    fn steps(
        &self,
        what: &str,
        commands: &[Command],
        values: &Values,
        cwd: &Path,
        log: &Path,
    ) -> Result<()> {
        let prepare = &self.file.prepare;
        let timeout = timeout(prepare.timeout.as_deref())?;
        let what = format!("{what} of kit {}", self.spec.name);
        build::run_steps(&what, commands, &prepare.env, values, (cwd, log, timeout))
    }

    /// Makes `{input}` unless this run has made it before.
    fn make_input(&self, values: &Values) -> Result<()> {
        let Some(dir) = values.get("input").map(PathBuf::from) else { return Ok(()) };
        let done = dir.with_extension("done");
        if done.exists() {
            return Ok(());
        }
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(WorkloadError::io("remove", &dir))?;
        }
        fs::create_dir_all(&dir).map_err(WorkloadError::io("create", &dir))?;
        self.steps("input", &self.file.prepare.run, values, &dir, &dir.with_extension("log"))
            .map_err(|e| WorkloadError::Once(Box::new(e)))?;
        fs::write(&done, "").map_err(WorkloadError::io("write", &done))
    }

    fn built_facts(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        const SOURCES: &str = "workload.kit.build.sources";
        let sources = |more: Option<&Path>| {
            let folders = [self.dir.as_path()].into_iter().chain(self.shared.as_deref());
            build::source_names(folders.chain(more)).join(" ")
        };
        let Some(build) = &self.file.build else {
            return BTreeMap::from([(SOURCES.into(), Fact::known(sources(None)))]);
        };
        let built = self
            .cache_dir
            .as_ref()
            .ok_or_else(|| "the cache folder was not given".to_owned())
            .and_then(|cache| self.build_values(params, cache).map_err(|e| e.to_string()))
            .and_then(|values| {
                let dir = values.get("build").map(PathBuf::from).unwrap_or_default();
                self.known(|known| known.built.get(&dir).cloned())
                    .or_else(|| build::existing(&dir))
                    .ok_or_else(|| "it is not built yet".to_owned())
            });
        let of = |read: &dyn Fn(&BuiltKit) -> Result<String, String>| {
            fact(built.as_ref().map_err(String::clone).and_then(read))
        };
        let digest = |name: &String| {
            let product = |built: &BuiltKit| built.products.get(name).cloned();
            of(&|built| product(built).ok_or_else(|| "it was not built".to_owned()))
        };
        let names = build.produces.iter().map(|name| name.get_ref());
        let mut facts: BTreeMap<String, Fact> =
            names.map(|name| (format!("workload.kit.build.{name}.sha256"), digest(name))).collect();
        facts.insert(SOURCES.into(), of(&|built| Ok(sources(Some(&built.dir)))));
        facts
    }
}

fn timeout(given: Option<&Spanned<Scalar>>) -> Result<Duration> {
    given.map_or(Ok(TIMEOUT), |text| {
        units::duration_of(text.get_ref()).map_err(|e| WorkloadError::Param(e.to_string()))
    })
}

impl Buildable for Kit {
    fn build(
        &self,
        params: &BTreeMap<String, Scalar>,
        cache_dir: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let values = self.build_values(params, cache_dir)?;
        let dir = values.get("build").map(PathBuf::from);
        if dir.is_some_and(|dir| build::existing(&dir).is_none()) {
            say(&format!("building {}", self.spec.name));
        }
        self.fetch_and_build(cache_dir, &values)
    }
}

impl Workload for Kit {
    fn spec(&self) -> &WorkloadSpec {
        &self.spec
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<()> {
        // The folders do not matter here: this checks for values that are not lists of words.
        let mut values = self.build_values(params, Path::new("/"))?;
        for name in ["run_dir", "input", "cpus", "cpu_count", "trial_dir", "trial"] {
            values.insert(name.into(), "0".into());
        }
        let build = self.file.build.iter().flat_map(|b| &b.steps);
        let prepare = &self.file.prepare;
        let commands = build
            .chain(&prepare.run)
            .chain(&prepare.trial)
            .chain([&self.file.run.command])
            .chain(&self.file.validate.commands);
        for command in commands {
            render_command(command, &BTreeMap::new(), &values)?;
        }
        Ok(())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let mut facts = self.built_facts(params);
        facts.insert("workload.kit.name".into(), Fact::known(&self.spec.name));
        facts.insert("workload.kit.version".into(), Fact::known(&self.file.version));
        facts.insert("workload.kit.sha256".into(), Fact::known(&self.digest));
        for row in &self.file.fetch {
            for (name, digest) in &row.files {
                facts.insert(
                    format!("workload.kit.fetch.{name}.sha256"),
                    Fact::known(digest.get_ref()),
                );
            }
        }
        let needs = self.param_values(params).and_then(|values| self.needs(&values));
        for (i, need) in self.file.need.iter().enumerate() {
            let version = needs.as_ref().map_err(ToString::to_string);
            let version = version.and_then(|found| found[i].version.clone());
            let name = need.program.get_ref().replace(['{', '}'], "");
            facts.insert(format!("workload.kit.need.{name}.version"), fact(version));
        }
        facts
    }

    fn lines(&self) -> Vec<String> {
        let file = &self.file;
        let mut lines = Vec::new();
        for row in &file.fetch {
            lines.push(format!("fetch: {} {}", row.package.get_ref(), row.version.get_ref()));
        }
        let mut add = |what: &str, commands: &[Command]| {
            lines.extend(commands.iter().map(|c| format!("{what}: {}", shown(c))));
        };
        add("build", file.build.as_ref().map_or(&[], |b| b.steps.as_slice()));
        add("input", &file.prepare.run);
        add("prepare", &file.prepare.trial);
        add("run", std::slice::from_ref(&file.run.command));
        add("validate", &file.validate.commands);
        lines
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { builds: Some(self), ..Capabilities::default() }
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<()> {
        let values = self.trial_values(ctx)?;
        self.fetch_and_build(ctx.cache_dir, &values)?;
        self.make_input(&values)?;
        let log = ctx.trial_dir.join("prepare.log");
        self.steps("preparation", &self.file.prepare.trial, &values, ctx.trial_dir, &log)
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch> {
        let run = &self.file.run;
        let values = self.trial_values(ctx)?;
        let rendered = render_command(&run.command, &run.env, &values)?;
        let stdin = |text: &KitText| render(text.get_ref(), &values).map(PathBuf::from);
        let stdin = run.stdin.as_ref().map(stdin).transpose()?;
        Ok(Launch { stdin, protocol: run.protocol, ..rendered })
    }

    fn collect(
        &self,
        ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults> {
        let values = self.trial_values(ctx)?;
        let rules = &self.file.validate;
        let limit = timeout(rules.timeout.as_deref())?;
        let results = self.file.result.as_ref().map(|file| result::read(file, &values, finished));
        let (mut metrics, mut notes) =
            metrics::read(&self.file.metric, &values, finished, results.as_ref());
        let (name, mut evidence) = (&self.spec.name, Vec::new());
        let mut validation =
            validate::validate(name, rules, &values, ctx.trial_dir, limit, finished)?;
        if let Some(results) = results {
            validation = result::verdict(&results, validation);
            if let Ok(results) = results {
                let declared = |m: &MetricValue| self.spec.metric(&m.name).is_some();
                metrics.extend(results.metrics.into_iter().filter(|m| !declared(m)));
                notes.extend(results.notes);
                evidence.extend(results.evidence);
            }
        }
        let dir = values.get("build").map(PathBuf::from).unwrap_or_default();
        if let Some(built) = self.known(|known| known.built.get(&dir).cloned()) {
            for (product, digest) in &built.products {
                notes.push(format!("{product} has the SHA-256 {digest}"));
            }
        }
        evidence.extend(self.build_evidence(&values)?);
        Ok(CollectedResults { metrics, validation, notes, evidence })
    }
}

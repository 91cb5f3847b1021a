//! Finds mistakes in a `kit.toml` that deserialization does not: bad names, placeholders and
//! hashes, and keys that do not go together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use assay_model::{Scalar, units};
use assay_system::redact::{first_token, is_secret_of};
use toml::Spanned;

use super::format::{Command, Fetch, KitFile, KitText, MetricRow, MetricSource, param_spec};
use super::metrics::{is_family, is_named};
use super::result::{item_mistake, mistake};
use super::template::{Holes, holes, variable};
use crate::pattern::Pattern;
use crate::problem::Mistake;
use crate::readers::BENCHMARKS;

/// Placeholders that are not parameters, and the first stage in which each is known;
/// `docs/workloads/kits.md` lists them.
const RESERVED: [(&str, KitStage); 11] = [
    ("kit", KitStage::Build),
    ("jobs", KitStage::Build),
    ("shared", KitStage::Build),
    ("fetch", KitStage::Build),
    ("build", KitStage::Build),
    ("input", KitStage::Input),
    ("run_dir", KitStage::Input),
    ("trial_dir", KitStage::Trial),
    ("trial", KitStage::Trial),
    ("cpus", KitStage::Trial),
    ("cpu_count", KitStage::Trial),
];

/// Rule for names, as part of an error message.
const NAMES: &str = "may have a-z, 0-9, `-`, `.` and `_` only";

struct Checker<'a> {
    file: &'a KitFile,
    dir: &'a Path,
    mistakes: Vec<Mistake>,
}

/// Stage of a kit in which a text is used; each stage knows the placeholders of those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KitStage {
    Params,
    Build,
    Input,
    Trial,
}

/// Returns all mistakes in a kit's file; `dir` is its folder.
pub(crate) fn mistakes(file: &KitFile, dir: &Path) -> Vec<Mistake> {
    let mut checker = Checker { file, dir, mistakes: Vec::new() };
    checker.head();
    checker.shared();
    checker.params();
    checker.fetch();
    checker.commands();
    checker.validate();
    checker.metrics();
    checker.mistakes
}

impl Checker<'_> {
    fn wrong<T>(&mut self, place: &Spanned<T>, message: impl Into<String>) {
        self.mistakes.push(Mistake { at: place.span().start, message: message.into() });
    }

    fn head(&mut self) {
        let file = self.file;
        if let Some(version) = file.schema_version.as_ref().filter(|v| *v.get_ref() != 1) {
            self.wrong(version, "this assay reads schema_version 1 of a kit");
        }
        let name = file.name.get_ref();
        if !is_name(name) {
            self.wrong(&file.name, format!("the name `{name}` {NAMES}"));
        } else if self.dir.file_name().is_some_and(|folder| folder != name.as_str()) {
            let folder = self.dir.file_name().unwrap_or_default().to_string_lossy();
            let message = format!(
                "the kit is named `{name}` and its folder `{folder}`; they must be the same"
            );
            self.wrong(&file.name, message);
        }
    }

    fn shared(&mut self) {
        let Some(shared) = &self.file.shared else { return };
        let folder = self.dir.join(shared.from.get_ref());
        for name in &shared.files {
            let path = folder.join(name.get_ref());
            if !is_name(name.get_ref()) {
                let message = format!("`{}` is not the name of a file in `from`", name.get_ref());
                self.wrong(name, message);
            } else if !path.is_file() {
                self.wrong(name, format!("there is no file {}", path.display()));
            }
        }
    }

    fn params(&mut self) {
        let mut seen = BTreeMap::new();
        for row in &self.file.param {
            let name = row.name.get_ref();
            if !is_name(name) {
                self.wrong(&row.name, format!("the parameter `{name}` {NAMES}"));
            }
            if RESERVED.iter().any(|(reserved, _)| reserved == name) {
                let message = format!("{{{name}}} is reserved; give the parameter another name");
                self.wrong(&row.name, message);
            }
            if let Some(other) = seen.insert(variable(name), name) {
                let message = format!("`{name}` and `{other}` cannot be distinguished; rename one");
                self.wrong(&row.name, message);
            }
            match param_spec(row) {
                Err(mistake) => self.mistakes.push(mistake),
                Ok(spec) => {
                    if let Some(Err(message)) = spec.default.as_ref().map(|d| spec.check(d)) {
                        self.wrong(&row.name, format!("the default of {message}"));
                    }
                    let default = spec.default.as_ref().map(Scalar::to_text).unwrap_or_default();
                    if is_secret_of(name, &default) || first_token(&default).is_some() {
                        let message = format!(
                            "the default of `{name}` looks like a secret, and defaults are \
                             recorded and published; \
                             let the program read it from an environment variable or a file"
                        );
                        self.wrong(&row.name, message);
                    }
                }
            }
        }
        for need in &self.file.need {
            self.text(&need.program, KitStage::Params);
        }
    }

    fn fetch(&mut self) {
        let mut names = BTreeSet::new();
        for Fetch { package, version, files, .. } in &self.file.fetch {
            let allowed = |text: &str, more: &str| {
                text.starts_with(|c: char| c.is_ascii_alphanumeric())
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
            };
            if !allowed(package.get_ref(), "+-.") {
                self.wrong(package, "this is not the name of a Debian package");
            }
            if !allowed(version.get_ref(), "+-.:~") {
                self.wrong(version, "this is not the version of a Debian package");
            }
            if files.is_empty() {
                self.wrong(package, "`files` is empty; give the name and SHA-256 of every file");
            }
            for (name, digest) in files {
                self.digest(digest);
                if name.contains('/') || name.starts_with('.') || name.is_empty() {
                    self.wrong(digest, format!("`{name}` is not a plain file name"));
                }
                if !names.insert(name) {
                    self.wrong(digest, format!("`{name}` is fetched twice"));
                }
            }
        }
    }

    fn commands(&mut self) {
        let file = self.file;
        if let Some(build) = &file.build {
            self.all(&build.steps, KitStage::Build);
            self.env(&build.env, KitStage::Build);
            self.timeout(build.timeout.as_deref());
            for product in &build.produces {
                let path = Path::new(product.get_ref());
                if product.get_ref().is_empty()
                    || !path.components().all(|c| matches!(c, Component::Normal(_)))
                {
                    let message = "a product is a path inside of {build}, such as `src/zstd`";
                    self.wrong(product, message);
                }
            }
            if build.steps.is_empty() || build.produces.is_empty() {
                self.wrong(&file.name, "[build] needs at least one step and one product");
            }
        }
        self.all(&file.prepare.run, KitStage::Input);
        self.all(&file.prepare.trial, KitStage::Trial);
        self.env(&file.prepare.env, KitStage::Input);
        self.timeout(file.prepare.timeout.as_deref());
        self.command(&file.run.command, KitStage::Trial);
        self.env(&file.run.env, KitStage::Trial);
        if let Some(stdin) = &file.run.stdin {
            self.text(stdin, KitStage::Trial);
        }
    }

    fn validate(&mut self) {
        let validate = &self.file.validate;
        for text in &validate.stdout_contains {
            self.text(text, KitStage::Trial);
        }
        if let Some(digest) = &validate.stdout_sha256 {
            self.digest(digest);
        }
        for (path, digest) in &validate.files {
            self.digest(digest);
            self.placeholders(digest.span().start, holes(path), KitStage::Trial);
        }
        self.all(&validate.commands, KitStage::Trial);
        if let Some(result) = &self.file.result {
            if let Some(message) = mistake(result) {
                self.wrong(&result.reader, message);
            }
            if let Some(path) = &result.path {
                self.text(path, KitStage::Trial);
            }
        }
        self.timeout(validate.timeout.as_deref());
    }

    fn metrics(&mut self) {
        if self.file.metric.is_empty() {
            self.wrong(&self.file.name, "there is no [[metric]]; give at least one");
        }
        let mut seen = BTreeSet::new();
        // A quotient may refer to all metrics that are not quotients, and to quotients above it.
        let mut known: Vec<&str> = self
            .file
            .metric
            .iter()
            .filter(|row| !matches!(row.from, MetricSource::Quotient | MetricSource::Protocol))
            .map(|row| row.name.get_ref().as_str())
            .collect();
        for row in &self.file.metric {
            let name = row.name.get_ref().as_str();
            if !seen.insert(name) {
                self.wrong(&row.name, format!("there are two metrics `{name}`"));
            }
            self.metric(row, &known);
            if row.from == MetricSource::Quotient {
                known.push(name);
            }
        }
    }

    fn metric(&mut self, row: &MetricRow, known: &[&str]) {
        let stream =
            matches!(row.from, MetricSource::Stdout | MetricSource::Stderr | MetricSource::File);
        let file = matches!(row.from, MetricSource::File | MetricSource::Size);
        let quotient = row.from == MetricSource::Quotient;
        let unnamed = row.pattern.is_some() && !is_named(row);
        let keys = [
            ("path", row.path.is_some(), file, file),
            ("dividend", row.dividend.is_some(), quotient, quotient),
            ("divisor", row.divisor.is_some(), quotient, quotient),
            ("pattern", row.pattern.is_some(), stream, stream && row.json.is_none()),
            ("json", row.json.is_some(), stream && row.pattern.is_none(), false),
            ("take", row.take.is_some(), unnamed, false),
            (
                "item",
                row.item.is_some(),
                row.from == MetricSource::Result,
                row.from == MetricSource::Result && row.name.get_ref() != BENCHMARKS,
            ),
            ("scale", row.scale.is_some(), row.from != MetricSource::Protocol, false),
        ];
        for (key, given, allowed, needed) in keys {
            if given && !allowed {
                self.wrong(&row.name, format!("`{key}` does not belong to this metric"));
            } else if needed && !given {
                let or = if key == "pattern" { " (or `json`)" } else { "" };
                self.wrong(&row.name, format!("this metric needs `{key}`{or}"));
            }
        }
        if row.from == MetricSource::Protocol && !self.file.run.protocol {
            self.wrong(&row.name, "a metric from the protocol needs `protocol = true` in [run]");
        }
        if row.from == MetricSource::Result {
            match &self.file.result {
                None => self.wrong(&row.name, "a metric from a result needs a table [result]"),
                Some(result) => {
                    if let Some(item) = &row.item
                        && let Some(message) = item_mistake(result, item.get_ref())
                    {
                        self.wrong(item, message);
                    }
                }
            }
        }
        if is_family(row) && row.name.get_ref() != BENCHMARKS {
            let message = format!(
                "a metric with `*` or {{name}} is called `{BENCHMARKS}`, the geometric mean of all"
            );
            self.wrong(&row.name, message);
        }
        if let Some(path) = &row.path {
            self.text(path, KitStage::Trial);
        }
        if let Some(text) = &row.pattern
            && let Err(e) = Pattern::parse(text.get_ref())
        {
            self.wrong(text, e.to_string());
        }
        if let Some(pointer) = row.json.as_ref().filter(|p| !p.get_ref().starts_with('/')) {
            self.wrong(pointer, "a JSON pointer starts with `/`, such as `/results/0/rate`");
        }
        for operand in [&row.dividend, &row.divisor].into_iter().flatten() {
            let text = operand.get_ref();
            if known.contains(&text.as_str()) {
                continue;
            }
            let before = self.mistakes.len();
            self.text(operand, KitStage::Params);
            if !text.contains('{')
                && self.mistakes.len() == before
                && super::metrics::amount(text).is_none()
            {
                let message = format!(
                    "`{text}` is neither a metric above nor a number, a size or a duration"
                );
                self.wrong(operand, message);
            }
        }
    }

    fn all(&mut self, commands: &[Command], stage: KitStage) {
        for command in commands {
            self.command(command, stage);
        }
    }

    fn command(&mut self, command: &Command, stage: KitStage) {
        match command {
            Command::Args(args) if args.is_empty() => {
                self.wrong(&self.file.name, "a command is empty; give a program and its arguments");
            }
            Command::Args(args) => args.iter().for_each(|arg| self.text(arg, stage)),
            Command::Shell(line) => {
                for name in self.known(stage) {
                    let text = line.get_ref().replace(&format!("${{{name}}}"), "");
                    if text.contains(&format!("{{{name}}}")) {
                        let variable = variable(&name);
                        self.wrong(
                            line,
                            format!(
                                "assay does not change a shell line; use \
                            \"${variable}\" for {{{name}}}"
                            ),
                        );
                    }
                }
            }
        }
    }

    fn env(&mut self, env: &BTreeMap<String, KitText>, stage: KitStage) {
        for text in env.values() {
            self.text(text, stage);
        }
    }

    fn text(&mut self, text: &KitText, stage: KitStage) {
        self.placeholders(text.span().start, holes(text.get_ref()), stage);
    }

    fn placeholders(&mut self, at: usize, holes: Holes<'_>, stage: KitStage) {
        let known = self.known(stage);
        match holes {
            Err(e) => self.mistakes.push(Mistake { at, message: e.to_string() }),
            Ok(names) => {
                for name in names.into_iter().filter(|n| !known.iter().any(|k| k == n)) {
                    let known = super::template::listed(&known);
                    let message = format!("{{{name}}} is unknown here; there are {known}");
                    self.mistakes.push(Mistake { at, message });
                }
            }
        }
    }

    fn known(&self, stage: KitStage) -> Vec<String> {
        let file = self.file;
        let there = |name: &str| match name {
            "shared" => file.shared.is_some(),
            "fetch" => !file.fetch.is_empty(),
            "build" => file.build.is_some(),
            _ => true,
        };
        let params = file.param.iter().map(|p| p.name.get_ref().as_str());
        let reserved = RESERVED.iter().filter(|(_, from)| *from <= stage).map(|(name, _)| *name);
        params.chain(reserved.filter(|name| there(name))).map(str::to_owned).collect()
    }

    fn digest(&mut self, text: &KitText) {
        let digest = text.get_ref();
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if digest.len() != 64 || !digest.chars().all(hex) {
            let message = "a SHA-256 is 64 lower-case hexadecimal digits, as `sha256sum` prints";
            self.wrong(text, message);
        }
    }

    fn timeout(&mut self, timeout: Option<&Spanned<Scalar>>) {
        if let Some((place, Err(message))) = timeout.map(|t| (t, units::duration_of(t.get_ref()))) {
            self.wrong(place, message.to_string());
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c))
}

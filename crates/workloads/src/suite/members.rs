//! The members of a suite: their kits, and their parameters for a treatment of the suite.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Scalar, nearest};

use super::file::SuiteFile;
use super::toolchain::{self, Toolchain};
use crate::declare::{text_of, wrong};
use crate::kit::Kit;
use crate::problem::Problem;
use crate::{TrialContext, Workload, WorkloadError, split_words};

/// Kits by name, in the order of the suite.
pub struct Members(Vec<(String, Kit)>);

/// A member under one treatment.
pub struct ChosenMember<'a> {
    pub kit: &'a Kit,
    pub params: BTreeMap<String, Scalar>,
    /// Description of the toolchain.
    pub toolchain: String,
}

/// Parameters of a kit that describe its build; the record shows them.
const BUILD: [&str; 9] =
    ["cc", "cxx", "fc", "cflags", "cxxflags", "fflags", "ldflags", "portability", "feedback"];

impl Members {
    /// Reads the kits of all members.
    ///
    /// # Errors
    /// Fails if a kit has a mistake or lacks the parameter `size`.
    pub fn load(dir: &Path, names: &[String], cache: Option<&Path>) -> Result<Self, WorkloadError> {
        let load = |name: &String| {
            let folder = dir.join(name);
            let kit = Kit::load(&folder, cache)?;
            if kit.spec().param("size").is_none() {
                let message = "a member of a suite has a parameter `size` with the choices test, \
                               train and ref; this kit has none";
                return Err(WorkloadError::from(Problem::whole(&folder.join("kit.toml"), message)));
            }
            Ok((name.clone(), kit))
        };
        Ok(Members(names.iter().map(load).collect::<Result<_, _>>()?))
    }

    /// Returns all members with their names.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Kit)> {
        self.0.iter().map(|(name, kit)| (name.as_str(), kit))
    }

    /// Returns the member that the parameters name, with the parameters of its kit.
    ///
    /// # Errors
    /// Fails if there is no such member or toolchain.
    pub fn choose(
        &self,
        suite: &Path,
        params: &BTreeMap<String, Scalar>,
    ) -> Result<ChosenMember<'_>, WorkloadError> {
        let name = text_of(params, "member");
        let Some((_, kit)) = self.0.iter().find(|(n, _)| *n == name) else {
            let near = nearest(&name, self.0.iter().map(|(n, _)| n.as_str()))
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(wrong(format!("there is no member `{name}`{near}")));
        };
        let toolchain = toolchain::read(&text_of(params, "toolchain"), suite)?;
        let params = kit_params(kit, &name, params, &toolchain);
        Ok(ChosenMember { kit, params, toolchain: toolchain.help })
    }
}

fn kit_params(
    kit: &Kit,
    member: &str,
    params: &BTreeMap<String, Scalar>,
    toolchain: &Toolchain,
) -> BTreeMap<String, Scalar> {
    let peak = text_of(params, "tuning") == "peak";
    let own = text_of(params, "flags");
    let everywhere = toolchain::Flags::everywhere(&own);
    let flags = if own.trim().is_empty() { toolchain.flags(member, peak) } else { &everywhere };
    let mut values: BTreeMap<String, Scalar> = BTreeMap::new();
    let mut set = |name: &str, value: Scalar| {
        values.insert(name.to_owned(), value);
    };
    set("size", Scalar::from(text_of(params, "size").as_str()));
    set("cc", Scalar::from(toolchain.compilers.c.as_str()));
    set("cxx", Scalar::from(toolchain.compilers.cxx.as_str()));
    set("fc", Scalar::from(toolchain.compilers.fortran.as_str()));
    set("cflags", Scalar::from(flags.with_common(&flags.c).as_str()));
    set("cxxflags", Scalar::from(flags.with_common(&flags.cxx).as_str()));
    set("fflags", Scalar::from(flags.with_common(&flags.fortran).as_str()));
    set("ldflags", Scalar::from(flags.link.trim()));
    set("feedback", Scalar::Bool(flags.feedback));
    if let Some(portability) = toolchain.portability.get(member) {
        set("portability", Scalar::from(portability.as_str()));
    }
    // Values without a parameter of the kit are dropped; parameters without a value get their
    // default.
    values.retain(|name, _| kit.spec().param(name).is_some());
    for spec in &kit.spec().params {
        if let (false, Some(default)) = (values.contains_key(&spec.name), &spec.default) {
            values.insert(spec.name.clone(), default.clone());
        }
    }
    values
}

impl ChosenMember<'_> {
    /// Returns the context of one copy.
    pub fn context<'b>(
        &'b self,
        ctx: &TrialContext<'b>,
        dir: &'b Path,
        cpus: &'b [usize],
    ) -> TrialContext<'b> {
        let cpus = if cpus.is_empty() { ctx.cpus } else { cpus };
        TrialContext { params: &self.params, trial_dir: dir, cpus, ..ctx.clone() }
    }

    /// Returns the compilers and flags by name.
    pub fn build(&self) -> impl Iterator<Item = (&'static str, String)> {
        BUILD.into_iter().filter_map(|name| Some((name, self.params.get(name)?.to_text())))
    }

    /// Returns notes for the record: compilers and flags, and flags without a description.
    pub fn notes(&self, file: &SuiteFile) -> Vec<String> {
        let build: Vec<String> = self.build().map(|(name, v)| format!("{name}={v:?}")).collect();
        let mut notes = vec![format!("built with {}", build.join(" "))];
        let unknown = self.undescribed(file);
        if !unknown.is_empty() {
            let which = unknown.join(" ");
            notes.push(format!("the suite's file describes no flag {which}: add it to [flags]"));
        }
        notes
    }

    /// Returns the used flags that `[flags]` does not describe.
    pub fn undescribed(&self, file: &SuiteFile) -> Vec<String> {
        let mut found = Vec::new();
        for name in ["cflags", "cxxflags", "fflags", "ldflags", "portability"] {
            let flags = self.params.get(name).map(Scalar::to_text).unwrap_or_default();
            for word in split_words(&flags).unwrap_or_default() {
                let word = word.to_string_lossy().into_owned();
                let described = file.flags.keys().any(|known| {
                    known.strip_suffix('*').map_or(*known == word, |start| word.starts_with(start))
                });
                if !described && !found.contains(&word) {
                    found.push(word);
                }
            }
        }
        found
    }
}

//! What a control is: one part of the system under test that can be set to a level and restored.

pub(crate) mod cgroup;
pub(crate) mod controller;
pub(crate) mod error;
pub(crate) mod hooks;
pub(crate) mod journal;
pub(crate) mod knob;
pub(crate) mod owner;
pub(crate) mod pending;

use std::sync::mpsc::Receiver;

use assay_model::{MetricValue, Observation, Scalar, Setting, TrialRecord};

use crate::Root;
use crate::control::error::ControlError;
use crate::control::hooks::{After, Hooks};
use crate::control::journal::{Entry, Journal};
use crate::process::setup::ProcessSetup;

/// What a control reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The program that is measured, and what it starts. The machine is not touched.
    Process,
    /// The whole machine. What was set before is journaled and restored.
    System,
    /// Something that is done once; there is nothing to restore.
    Action,
}

impl Scope {
    /// The scope's word.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Process => "process",
            Scope::System => "system",
            Scope::Action => "action",
        }
    }
}

/// A control as data: help, `docs/reference/controls.md` and error messages are made from it.
#[derive(Debug, PartialEq, Eq)]
pub struct ControlSpec {
    /// Its name in experiments.
    pub name: &'static str,
    /// One sentence: what it sets.
    pub help: &'static str,
    /// What its levels look like.
    pub levels: &'static str,
    /// Whether it needs a key (`sysctl.vm.swappiness`): which of its knobs.
    pub keyed: bool,
    /// What a key looks like; empty where it takes none. A control that is not keyed and yet has
    /// this takes a key if one is given.
    pub key: &'static str,
    /// What it reaches.
    pub scope: Scope,
    /// What it takes to use it: a privilege, a kernel feature.
    pub needs: &'static str,
    /// How it is restored.
    pub put_back: &'static str,
    /// Key and level by which `assay doctor` finds out whether the control works, where they do not depend on
    /// the machine.
    pub probe: (&'static str, &'static str),
}

impl ControlSpec {
    /// The rest of a control without a key that only the program has.
    pub(crate) const OF_PROCESS: ControlSpec = ControlSpec {
        name: "",
        help: "",
        levels: "",
        keyed: false,
        key: "",
        scope: Scope::Process,
        needs: "nothing",
        put_back: "nothing to restore: only the program has it",
        probe: ("", ""),
    };

    /// One of its settings.
    pub(crate) fn setting(&self, key: &str, value: Scalar) -> Setting {
        Setting { control: self.name.to_owned(), key: key.to_owned(), value }
    }

    /// That the value of a setting is not a level of this control.
    pub(crate) fn not_a_level(&self, setting: &Setting) -> ControlError {
        ControlError::Level {
            path: setting_path(self.name, &setting.key),
            value: setting.value.to_text(),
            levels: self.levels.to_owned(),
        }
    }

    /// Returns the error of a control without a key that cannot be set on this machine.
    pub(crate) fn not_here(&self, reason: impl Into<String>) -> ControlError {
        ControlError::NotHere { path: self.name.to_owned(), reason: reason.into() }
    }

    /// Returns the error of a call to the kernel that failed.
    pub(crate) fn failed(&self, doing: impl Into<String>, source: std::io::Error) -> ControlError {
        ControlError::Io { path: self.name.to_owned(), doing: doing.into(), source }
    }

    /// That a key is not one of this control, and why.
    pub(crate) fn not_a_key(&self, key: &str, reason: impl Into<String>) -> ControlError {
        ControlError::Key { path: setting_path(self.name, key), reason: reason.into() }
    }
}

/// One part of the system under test that can be set to a level and restored.
///
/// The level `default` never reaches a control: it means "leave as it is" for all of them.
pub trait Control: Sync {
    /// The control as data.
    fn spec(&self) -> &ControlSpec;

    /// Whether the level is one, and whether it can be set and restored here; changes nothing.
    ///
    /// # Errors
    /// Says what is wrong and what would be right, or what is missing here.
    fn check(&self, root: &Root, setting: &Setting) -> Result<(), ControlError>;

    /// The level now. For controls of the process: that of the calling thread.
    ///
    /// # Errors
    /// It cannot be read, or an action has no level.
    fn current(&self, root: &Root, key: &str) -> Result<Scalar, ControlError>;

    /// Sets the level: on the machine, after journaling, or in the session's process setup.
    ///
    /// # Errors
    /// It could not be set, or was not taken. What was journaled is restored by the caller.
    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError>;

    /// Puts an old level back on the machine and reads it back. Nothing for controls that do not
    /// touch the machine.
    ///
    /// # Errors
    /// It could not be restored.
    fn restore(&self, _root: &Root, _key: &str, _old: &str) -> Result<(), ControlError> {
        match self.spec().scope {
            Scope::Process | Scope::Action => Ok(()),
            Scope::System => Err(self.spec().not_here("this control cannot restore a level")),
        }
    }

    /// What on the machine is changed by this key, so that two runs do not change one thing at
    /// once; `None` where the machine is not touched.
    fn target(&self, _root: &Root, _key: &str) -> Option<String> {
        None
    }

    /// Seals what the program is to read, where this control holds it; `setting` is a change as it was
    /// journaled. Returns sentences for the record.
    ///
    /// # Errors
    /// What could not be done.
    fn make_cold(&self, _root: &Root, _setting: &Setting) -> Result<Vec<String>, ControlError> {
        Ok(Vec::new())
    }

    /// Whether a level holds nothing but what the program reads, so that only workloads that say what that
    /// is can be run on it.
    fn inputs_only(&self, _setting: &Setting) -> bool {
        false
    }

    /// Levels by which `assay doctor` finds out whether the control works here; one that passes `check` is
    /// enough. `cpu` is a CPU that may be used.
    fn probes(&self, _root: &Root, _cpu: usize) -> Vec<Setting> {
        let (key, level) = self.spec().probe;
        vec![self.spec().setting(key, Scalar::parse(level))]
    }

    /// The settings of other controls that this one is made of at this level, so that no treatment
    /// sets one thing by two names. A level that it does not have is made of nothing.
    fn parts(&self, _setting: &Setting) -> Vec<Setting> {
        Vec::new()
    }
}

/// What a control may use while it is applied.
pub struct Session<'a> {
    root: &'a Root,
    setup: &'a mut ProcessSetup,
    journal: &'a mut Journal,
    notes: &'a mut Vec<String>,
    hooks: &'a mut Hooks,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        root: &'a Root,
        setup: &'a mut ProcessSetup,
        journal: &'a mut Journal,
        notes: &'a mut Vec<String>,
        hooks: &'a mut Hooks,
    ) -> Self {
        Session { root, setup, journal, notes, hooks }
    }

    /// The system.
    pub fn root(&self) -> &'a Root {
        self.root
    }

    /// What will be applied to the program.
    pub fn setup(&mut self) -> &mut ProcessSetup {
        self.setup
    }

    /// Writes to the journal, on disk when it returns, that a level is about to be changed.
    ///
    /// # Errors
    /// The journal cannot be written, or another process has the same thing changed: then it must
    /// not be changed.
    pub fn record(
        &mut self,
        control: &dyn Control,
        key: &str,
        old: &str,
        new: &str,
    ) -> Result<(), ControlError> {
        let name = control.spec().name;
        let target = control.target(self.root, key).unwrap_or_else(|| setting_path(name, key));
        self.journal.record(Entry {
            control: name.to_owned(),
            key: key.to_owned(),
            target,
            old: old.to_owned(),
            new: new.to_owned(),
            at: jiff::Timestamp::now().to_string(),
        })
    }

    /// Leaves a sentence for the record of the trial.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Leaves a figure that the control measured for the record of the trial, with how it was had.
    pub fn measured(&mut self, metric: MetricValue, seen: Observation) {
        self.hooks.measured.push((metric, seen));
    }

    /// Has this called after the trial, while the control is still set.
    pub fn after(&mut self, say: impl FnOnce(&mut TrialRecord) + Send + 'static) {
        self.hooks.after.push(Box::new(say));
    }

    /// Has this run on a thread of its own while the program runs.
    pub fn during(&mut self, look: impl FnOnce(&Receiver<()>) -> After + Send + 'static) {
        self.hooks.during.push(Box::new(look));
    }
}

/// `sysctl.vm.swappiness`: how a setting is written in an experiment.
pub(crate) fn setting_path(control: &str, key: &str) -> String {
    if key.is_empty() { control.to_owned() } else { format!("{control}.{key}") }
}

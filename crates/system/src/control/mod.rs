//! Controls: parts of the system under test that can be set to a level and restored.

pub(crate) mod cgroup;
pub(crate) mod journal;
pub(crate) mod knob;

use std::sync::mpsc::Receiver;

use assay_model::{MetricValue, Observation, Scalar, Setting, TrialRecord};

use crate::Root;
use crate::control::journal::{Journal, JournalEntry};
use crate::control::knob::Knob;
use crate::error::{ControlError, Result};
use crate::process::hooks::{Hooks, RecordHook};
use crate::process::setup::ProcessSetup;

/// The part of the system that a control affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlScope {
    /// The measured program and its children; the machine is not changed.
    Process,
    /// The whole machine. The previous level is journaled and restored.
    System,
    /// A one-time action without anything to restore.
    Action,
}

assay_model::names! {
    /// Returns the name of the scope.
    pub ControlScope::name: Process = "process", System = "system", Action = "action"
}

/// Description of a control, from which help, `docs/reference/controls.md` and error messages are
/// made.
#[derive(Debug, PartialEq, Eq)]
pub struct ControlSpec {
    /// Name of the control in experiments.
    pub name: &'static str,
    /// Purpose of the control in one sentence.
    pub help: &'static str,
    /// Description of the valid levels.
    pub levels: &'static str,
    /// True if the control needs a key (`sysctl.vm.swappiness`) that selects one of its knobs.
    pub keyed: bool,
    /// Description of a key; empty if the control takes none. A control with this text that is not
    /// keyed accepts a key but does not need one.
    pub key: &'static str,
    pub scope: ControlScope,
    /// Requirements: a privilege, a kernel feature.
    pub needs: &'static str,
    /// Description of how the level is restored.
    pub put_back: &'static str,
    /// Key and level with which `assay doctor` tests whether the control works, for controls where
    /// they do not depend on the machine.
    pub probe: (&'static str, &'static str),
}

impl ControlSpec {
    /// Defaults for controls without a key that affect only the program.
    pub(crate) const OF_PROCESS: ControlSpec = ControlSpec {
        name: "",
        help: "",
        levels: "",
        keyed: false,
        key: "",
        scope: ControlScope::Process,
        needs: "nothing",
        put_back: "nothing to restore: only the program has it",
        probe: ("", ""),
    };

    /// Makes a setting of this control.
    pub(crate) fn setting(&self, key: &str, value: Scalar) -> Setting {
        Setting { control: self.name.to_owned(), key: key.to_owned(), value }
    }

    /// Returns the error for a value that is not a level of this control.
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

    /// Returns the error of a system call that failed.
    pub(crate) fn failed(&self, doing: impl Into<String>, source: std::io::Error) -> ControlError {
        ControlError::Io { path: self.name.to_owned(), doing: doing.into(), source }
    }

    /// Returns the error for a key that this control does not have.
    pub(crate) fn not_a_key(&self, key: &str, reason: impl Into<String>) -> ControlError {
        ControlError::Key { path: setting_path(self.name, key), reason: reason.into() }
    }
}

/// One part of the system under test that can be set to a level and restored.
///
/// The level `default` never reaches a control: it means "leave as it is" for all of them.
pub trait Control: Sync {
    /// Returns the description of the control.
    fn spec(&self) -> &ControlSpec;

    /// Checks that the level is valid and can be set and restored on this machine; changes nothing.
    ///
    /// # Errors
    /// The error names the problem and the valid levels, or what the machine lacks.
    fn check(&self, root: &Root, setting: &Setting) -> Result<()>;

    /// Returns the file with the level, for controls whose level is that of one file.
    ///
    /// # Errors
    /// The control has no such key.
    fn knob<'a>(&'a self, _root: &Root, key: &'a str) -> Result<Knob<'a>> {
        Err(self.spec().not_a_key(key, "this control is not one file"))
    }

    /// Reads the current level; for controls of the process, that of the calling thread.
    ///
    /// # Errors
    /// If it cannot be read, or for an action, which has no level.
    fn current(&self, root: &Root, key: &str) -> Result<Scalar> {
        self.knob(root, key)?.current(root)
    }

    /// Sets the level: on the machine, after journaling, or in the session's process setup.
    ///
    /// # Errors
    /// If the level could not be set or was not accepted. The caller restores journaled changes.
    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()>;

    /// Restores an old level on the machine and reads it back. Does nothing for controls that do
    /// not change the machine.
    ///
    /// # Errors
    /// If the level could not be restored.
    fn restore(&self, root: &Root, key: &str, old: &str) -> Result<()> {
        match self.spec().scope {
            ControlScope::Process | ControlScope::Action => Ok(()),
            ControlScope::System => self.knob(root, key)?.set(root, old),
        }
    }

    /// Returns the object on the machine that this key changes, so that two runs do not change it
    /// at the same time; `None` if the machine is not changed.
    fn target(&self, root: &Root, key: &str) -> Option<String> {
        self.knob(root, key).ok().map(|knob| knob.file)
    }

    /// Makes the program's input cold if this control holds it; `setting` is a change as it was
    /// journaled. Returns sentences for the record.
    ///
    /// # Errors
    /// The first step that failed.
    fn make_cold(&self, _root: &Root, _setting: &Setting) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// True if a level can hold only the program's input, so that only workloads that declare their
    /// input can run on it.
    fn inputs_only(&self, _setting: &Setting) -> bool {
        false
    }

    /// Returns levels with which `assay doctor` tests whether the control works here; one that
    /// passes `check` is enough. `cpu` is a CPU that may be used.
    fn probes(&self, _root: &Root, _cpu: usize) -> Vec<Setting> {
        let (key, level) = self.spec().probe;
        vec![self.spec().setting(key, Scalar::parse(level))]
    }

    /// Returns the settings of other controls that this level consists of, so that no treatment
    /// sets one object under two names. Empty for an invalid level.
    fn parts(&self, _setting: &Setting) -> Vec<Setting> {
        Vec::new()
    }
}

/// State that a control may use while it is applied.
pub struct ControlSession<'a> {
    pub root: &'a Root,
    /// Setup that will be applied to the program.
    pub setup: &'a mut ProcessSetup,
    pub(crate) journal: &'a mut Journal,
    pub(crate) notes: &'a mut Vec<String>,
    pub(crate) hooks: &'a mut Hooks,
}

impl ControlSession<'_> {
    /// Writes to the journal that a level is about to be changed; the entry is on disk when this
    /// returns.
    ///
    /// # Errors
    /// If the journal cannot be written, or if another process has changed the same object; then it
    /// must not be changed.
    pub fn record(&mut self, control: &dyn Control, key: &str, old: &str, new: &str) -> Result<()> {
        let name = control.spec().name;
        let target = control.target(self.root, key).unwrap_or_else(|| setting_path(name, key));
        self.journal.record(JournalEntry {
            control: name.to_owned(),
            key: key.to_owned(),
            target,
            old: old.to_owned(),
            new: new.to_owned(),
            at: jiff::Timestamp::now().to_string(),
        })
    }

    /// Adds a sentence to the record of the trial.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Adds a value that the control measured to the record of the trial, with its evidence.
    pub fn measured(&mut self, metric: MetricValue, seen: Observation) {
        self.hooks.measured.push((metric, seen));
    }

    /// Registers a function to call after the trial, while the control is still set.
    pub fn after(&mut self, say: impl FnOnce(&mut TrialRecord) + Send + 'static) {
        self.hooks.after.push(Box::new(say));
    }

    /// Registers a function that runs on a thread of its own while the program runs.
    pub fn during(&mut self, look: impl FnOnce(&Receiver<()>) -> RecordHook + Send + 'static) {
        self.hooks.during.push(Box::new(look));
    }
}

/// Formats a setting as an experiment writes it: `sysctl.vm.swappiness`.
pub(crate) fn setting_path(control: &str, key: &str) -> String {
    if key.is_empty() { control.to_owned() } else { format!("{control}.{key}") }
}

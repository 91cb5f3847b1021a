//! What a control is: one part of the system under test that can be set to a level and put back.

use std::sync::mpsc::Receiver;

use assay_model::{MetricValue, Observation, Scalar, Setting, TrialRecord};

use crate::Root;
use crate::control_error::ControlError;
use crate::controls::CONTROLS;
use crate::hooks::{After, Hooks};
use crate::journal::{Entry, Journal};
use crate::setup::ProcessSetup;

/// What a control reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The program that is measured, and what it starts. The machine is not touched.
    Process,
    /// The whole machine. What was set before is journaled and put back.
    System,
    /// Something that is done once; there is nothing to put back.
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

/// A control as data: help, `docs/controls.md` and error messages are made from it.
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
    /// How it is put back.
    pub put_back: &'static str,
}

impl ControlSpec {
    /// That the value of a setting is not a level of this control.
    /// One of its settings.
    pub(crate) fn setting(&self, key: &str, value: Scalar) -> Setting {
        Setting { control: self.name.to_owned(), key: key.to_owned(), value }
    }

    pub(crate) fn not_a_level(&self, setting: &Setting) -> ControlError {
        ControlError::Level {
            path: setting_path(self.name, &setting.key),
            value: setting.value.to_text(),
            levels: self.levels.to_owned(),
        }
    }

    /// That a key is not one of this control, and why.
    pub(crate) fn not_a_key(&self, key: &str, reason: impl Into<String>) -> ControlError {
        ControlError::Key { path: setting_path(self.name, key), reason: reason.into() }
    }
}

/// One part of the system under test that can be set to a level and put back.
///
/// The level `default` never reaches a control: it means "leave as it is" for all of them.
pub trait Control: Sync {
    /// The control as data.
    fn spec(&self) -> &'static ControlSpec;

    /// Whether the level is one, and whether it can be set and put back here; changes nothing.
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
    /// It could not be set, or was not taken. What was journaled is put back by the caller.
    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError>;

    /// Puts an old level back on the machine and reads it back. Nothing for controls that do not
    /// touch the machine.
    ///
    /// # Errors
    /// It could not be put back.
    fn restore(&self, root: &Root, key: &str, old: &str) -> Result<(), ControlError>;

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
    fn seal(&self, _root: &Root, _setting: &Setting) -> Result<Vec<String>, ControlError> {
        Ok(Vec::new())
    }

    /// Whether a level holds nothing but what the program reads, so that only workloads that say what that
    /// is can be run on it.
    fn inputs_only(&self, _setting: &Setting) -> bool {
        false
    }

    /// Levels by which `assay doctor` finds out whether the control works here; one that passes `check` is
    /// enough. `cpu` is a CPU that may be used.
    fn probes(&self, root: &Root, cpu: usize) -> Vec<Setting>;

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

/// Every control.
pub fn all() -> &'static [&'static dyn Control] {
    &CONTROLS
}

/// The control of that name.
pub fn find(name: &str) -> Option<&'static dyn Control> {
    all().iter().copied().find(|c| c.spec().name == name)
}

/// As [`find`], with an error that lists what there is.
pub(crate) fn named(name: &str) -> Result<&'static dyn Control, ControlError> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|c| c.spec().name).collect();
        let nearest = assay_model::nearest(name, names.iter().copied())
            .map(|known| format!("; did you mean `{known}`?"));
        ControlError::Unknown {
            name: name.to_owned(),
            nearest: nearest.unwrap_or_default(),
            known: names.join(", "),
        }
    })
}

/// Reads a setting as an experiment writes it: `cpus`, `sysctl.vm.swappiness`, `env.NAME`,
/// `sysfs./sys/block/sda/queue/scheduler`. Whether the level is right is for [`Control::check`].
///
/// # Errors
/// There is no such control, or a key is missing or too much.
pub fn parse_setting(path: &str, value: &Scalar) -> Result<Setting, ControlError> {
    let (name, key) = path.split_once('.').unwrap_or((path, ""));
    let spec = named(name)?.spec();
    check_key(spec, key)?;
    Ok(Setting { control: name.to_owned(), key: key.to_owned(), value: value.clone() })
}

/// Whether a control takes a key, and one is there.
pub(crate) fn check_key(spec: &ControlSpec, key: &str) -> Result<(), ControlError> {
    match (spec.keyed, spec.key.is_empty(), key.is_empty()) {
        (true, _, true) => Err(spec.not_a_key(key, format!("it needs a key: {}", spec.key))),
        (false, true, false) => Err(spec.not_a_key(key, "it takes no key")),
        _ => Ok(()),
    }
}

/// `sysctl.vm.swappiness`: how a setting is written in an experiment.
pub(crate) fn setting_path(control: &str, key: &str) -> String {
    if key.is_empty() { control.to_owned() } else { format!("{control}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_split_at_the_first_dot() {
        let text = |s: &str| Scalar::Text(s.into());
        let s = parse_setting("sysctl.vm.swappiness", &Scalar::Int(1)).unwrap();
        assert_eq!((s.control.as_str(), s.key.as_str()), ("sysctl", "vm.swappiness"));
        let s = parse_setting("sysfs./sys/block/sda.1/x", &text("1")).unwrap();
        assert_eq!(s.key, "/sys/block/sda.1/x");
        assert_eq!(parse_setting("cpus", &text("0")).unwrap().key, "");
        assert_eq!(parse_setting("hugepages", &text("0")).unwrap().key, "");
        assert_eq!(parse_setting("hugepages.1GiB", &text("0")).unwrap().key, "1GiB");
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        let say = |path: &str| parse_setting(path, &Scalar::Int(1)).unwrap_err().to_string();
        assert!(say("cpu").contains("did you mean `cpus`?"), "{}", say("cpu"));
        assert!(say("hugepage").contains("`hugepages`"));
        assert!(!say("zzzzzz").contains("did you mean") && say("zzzzzz").contains("sysctl"));
        assert!(say("sysctl").contains("needs a key"));
        assert!(say("nice.5").contains("takes no key"));
    }

    #[test]
    fn every_control_has_its_own_name_and_words() {
        let mut names: Vec<&str> = all().iter().map(|c| c.spec().name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for spec in all().iter().map(|c| c.spec()) {
            assert!(!spec.name.contains('.'), "{} would be split", spec.name);
            assert!(!spec.keyed || !spec.key.is_empty(), "{}", spec.name);
            for text in [spec.help, spec.levels, spec.needs, spec.put_back] {
                assert!(!text.is_empty() && !text.contains('|'), "{}: {text}", spec.name);
            }
        }
    }
}

//! Applies the settings of a treatment, all or none, and restores them.

pub(crate) mod pending;

use std::path::PathBuf;

use assay_checks::record_observation;
use assay_model::{MetricValue, Observation, Scalar, Setting, TrialRecord};

use crate::Root;
use crate::control::journal::Journal;
use crate::control::{Control, ControlScope, ControlSession, setting_path};
use crate::controller::pending::{RestoreOutcome, put_back};
use crate::controls::{check_key, named};
use crate::error::{ControlError, Result};
use crate::process::enter::try_out;
use crate::process::hooks::{Hooks, ObserverHook};
use crate::process::setup::ProcessSetup;

/// The level that means "leave it as it is" for every control.
pub const DEFAULT_LEVEL: &str = "default";

/// Applies settings to one system and keeps the journal in one state folder.
#[derive(Debug, Clone)]
pub struct Controller {
    root: Root,
    state_dir: PathBuf,
}

impl Controller {
    /// Makes a controller of `root` that keeps its journal below `state_dir`
    /// ([`crate::state_dir`]). Nothing is created on disk until the machine is changed.
    pub fn new(state_dir: impl Into<PathBuf>, root: Root) -> Self {
        Controller { root, state_dir: state_dir.into() }
    }

    /// Checks that these settings can be applied together and restored; changes nothing. Two
    /// settings that change the same object are an error.
    ///
    /// # Errors
    /// The first setting that is invalid or not possible on this machine.
    pub fn check(&self, settings: &[Setting]) -> Result<()> {
        let chosen = chosen(settings)?;
        let mut seen: Vec<(String, String)> = Vec::new();
        for (control, setting) in &chosen {
            let path = setting_path(&setting.control, &setting.key);
            let targets = self.targets(*control, setting)?;
            if let Some((_, other)) = seen.iter().find(|(t, _)| targets.contains(t)) {
                return Err(ControlError::Twice { path, other: other.clone() });
            }
            control.check(&self.root, setting)?;
            seen.extend(targets.into_iter().map(|target| (target, path.clone())));
        }
        if self.root.is_system() {
            // Apply the thread controls together; until now each was only tried alone.
            let mut setup = ProcessSetup::default();
            let mut session = ControlSession {
                root: &self.root,
                setup: &mut setup,
                journal: &mut Journal::new(&self.state_dir),
                notes: &mut Vec::new(),
                hooks: &mut Hooks::default(),
            };
            for (control, setting) in &chosen {
                if control.spec().scope == ControlScope::Process {
                    control.apply(setting, &mut session)?;
                }
            }
            try_out(&setup)?;
        }
        Ok(())
    }

    /// Returns everything that a setting changes: its own target and those of the controls that it
    /// consists of.
    fn targets(&self, control: &dyn Control, setting: &Setting) -> Result<Vec<String>> {
        let target = |control: &dyn Control, s: &Setting| {
            control.target(&self.root, &s.key).unwrap_or_else(|| setting_path(&s.control, &s.key))
        };
        let mut targets = vec![target(control, setting)];
        for part in control.parts(setting) {
            targets.push(target(named(&part.control)?, &part));
        }
        Ok(targets)
    }

    /// Applies the levels: first those of the machine, which are journaled; then those of the
    /// program, into the setup that is returned; then the actions. If one fails, everything is
    /// restored.
    ///
    /// # Errors
    /// The failed setting; [`ControlError::AlsoRestore`] if restoring failed too.
    pub fn apply(&self, settings: &[Setting]) -> Result<AppliedSettings> {
        let mut chosen = chosen(settings)?;
        // A stable sort keeps the treatment's order within a scope.
        chosen.sort_by_key(|(control, _)| match control.spec().scope {
            ControlScope::System => 0,
            ControlScope::Process => 1,
            ControlScope::Action => 2,
        });
        let mut applied = AppliedSettings {
            setup: ProcessSetup::default(),
            notes: Vec::new(),
            hooks: Hooks::default(),
            root: self.root.clone(),
            journal: Journal::new(&self.state_dir),
        };
        for (control, setting) in chosen {
            let AppliedSettings { setup, notes, hooks, journal, .. } = &mut applied;
            let mut session = ControlSession { root: &self.root, setup, journal, notes, hooks };
            if let Err(error) = control.apply(setting, &mut session) {
                return Err(match applied.restore() {
                    Ok(()) => error,
                    Err(restore) => ControlError::AlsoRestore {
                        error: Box::new(error),
                        restore: Box::new(restore),
                    },
                });
            }
        }
        Ok(applied)
    }
}

/// Returns the settings that do not have the default level, with their controls.
fn chosen(settings: &[Setting]) -> Result<Vec<(&'static dyn Control, &Setting)>> {
    let mut chosen = Vec::new();
    for setting in settings {
        let control = named(&setting.control)?;
        check_key(control.spec(), &setting.key)?;
        if !matches!(&setting.value, Scalar::Text(text) if text == DEFAULT_LEVEL) {
            chosen.push((control, setting));
        }
    }
    Ok(chosen)
}

/// Settings that are applied. They are restored on request or on drop; a drop cannot report
/// failures, but the journal keeps them.
#[must_use = "the settings are restored as soon as this is dropped"]
#[derive(Debug)]
pub struct AppliedSettings {
    /// Settings of the program's process, applied by [`crate::enter`] and through its environment.
    pub setup: ProcessSetup,
    /// Sentences for the record of the trial.
    pub notes: Vec<String>,
    hooks: Hooks,
    root: Root,
    journal: Journal,
}

impl AppliedSettings {
    /// Makes the storage cold if a control created one: flushes the program's input to the devices
    /// and drops it from all caches; for some levels, makes an image of it. Must be called once,
    /// before the program starts. Returns sentences for the record.
    ///
    /// # Errors
    /// The first step that failed.
    pub fn make_cold(&self) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for entry in self.journal.entries() {
            let level = Scalar::Text(entry.new.clone());
            let setting =
                Setting { control: entry.control.clone(), key: entry.key.clone(), value: level };
            notes.extend(named(&entry.control)?.make_cold(&self.root, &setting)?);
        }
        Ok(notes)
    }

    /// Takes the functions that observe the program while it runs, for [`crate::beside`].
    pub fn during(&mut self) -> Vec<ObserverHook> {
        std::mem::take(&mut self.hooks.during)
    }

    /// Returns the values that controls measured while they were set up, with their evidence.
    pub fn measured(&self) -> &[(MetricValue, Observation)] {
        &self.hooks.measured
    }

    /// Adds the controls' measurements and their remarks on the trial to the record; works once.
    pub fn after(&mut self, record: &mut TrialRecord) {
        for (metric, seen) in std::mem::take(&mut self.hooks.measured) {
            record.metrics.push(metric);
            record_observation(record, seen);
        }
        for say in std::mem::take(&mut self.hooks.after) {
            say(record);
        }
    }

    /// Restores everything, last change first, and reads it back.
    ///
    /// # Errors
    /// If something could not be restored; it stays in the journal.
    pub fn restore(mut self) -> Result<()> {
        self.back()
    }

    fn back(&mut self) -> Result<()> {
        let (settings, left) = put_back(self.journal.entries(), &self.root);
        self.journal.finish(left)?;
        let failed: Vec<String> = settings
            .into_iter()
            .filter_map(|s| match s.outcome {
                RestoreOutcome::Failed { reason } => Some(reason),
                _ => None,
            })
            .collect();
        if failed.is_empty() {
            Ok(())
        } else {
            Err(ControlError::Restore { failed: failed.join("; ") })
        }
    }
}

impl Drop for AppliedSettings {
    fn drop(&mut self) {
        let _ = self.back();
    }
}

#[cfg(test)]
mod tests;

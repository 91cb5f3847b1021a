//! The context of a run: archive, folders, program and signals.

use std::path::PathBuf;

use assay_archive::Archive;
use assay_system::Interrupt;
use assay_system::process::Output;

/// Everything that a run needs apart from the experiment.
#[derive(Debug)]
pub struct Lab<'a> {
    /// Archive that receives the run's record.
    pub archive: &'a Archive,
    /// Folder that holds the journal of controls.
    pub state_dir: PathBuf,
    /// The assay executable, for built-in workloads.
    pub exe: PathBuf,
    /// Folders that are searched for kits.
    pub kits: assay_workloads::KitPaths,
    /// Signal that ends the run early.
    pub interrupt: Option<Interrupt>,
    /// Handling of the programs' output.
    pub output: Output,
}

//! Resources that most verbs open first: the archive, the lab, the folders of kits.

use std::path::PathBuf;

use anyhow::Context;
use assay_archive::Archive;
use assay_lab::Lab;
use assay_system::Interrupt;
use assay_system::process::Output;
use assay_workloads::KitPaths;

use crate::arguments::Global;
use crate::screen::say;
use crate::shipped;

/// Opens the archive that `--archive` names, or the default one.
pub(crate) fn open_archive(global: &Global) -> anyhow::Result<Archive> {
    let path = match &global.archive {
        Some(path) => path.clone(),
        None => Archive::default_path()?,
    };
    Ok(Archive::open(path)?)
}

/// Makes the lab that verbs use: Ctrl-C ends its trial and restores the settings.
pub(crate) fn open_lab(
    archive: &Archive,
    kits: KitPaths,
    output: Output,
) -> anyhow::Result<Lab<'_>> {
    Ok(Lab {
        archive,
        state_dir: assay_system::state_dir(),
        exe: own_path()?,
        kits,
        interrupt: Some(Interrupt::install()?),
        output,
    })
}

/// Returns the path of this executable.
pub(crate) fn own_path() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find assay's own executable")
}

/// Returns the folders that are searched for kits; the kits that come with assay are last.
pub(crate) fn kit_paths() -> anyhow::Result<KitPaths> {
    let mut paths = KitPaths::from_env(&own_path()?, Some(assay_lab::cache_dir()));
    match shipped::folder("kits") {
        Ok(folder) => paths.roots.push(folder),
        Err(e) => say(&format!("warning: cannot unpack the kits that come with assay: {e}")),
    }
    Ok(paths)
}

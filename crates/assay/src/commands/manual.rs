//! `assay completions` and `assay man`, generated from the definition of the command line, so that
//! they always agree with it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Command;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::help;
use crate::screen::print;

/// Columns of text that is not written to a terminal.
const COLUMNS: usize = 80;

/// Returns the command line without the internal verbs that assay starts itself with, which
/// completions would otherwise offer.
fn visible(all: &Command) -> Command {
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    Command::new("assay").args(all.get_arguments().cloned()).subcommands(verbs)
}

/// Prints the completion script of a shell.
pub fn completions(all: &Command, shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(all), "assay", &mut script);
    print(&String::from_utf8(script)?).map(|()| Exit::Fine)
}

/// Writes `assay.1` and a manual page for each verb and subcommand.
pub fn pages(all: Command, folder: &Path) -> Result<Exit> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let command = help::with_help(all, COLUMNS).disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder)
        .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
    Ok(Exit::Fine)
}

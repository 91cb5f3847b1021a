//! `assay completions` and `assay man`: written from the definition of the command line, so that they cannot drift
//! from it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::help;
use crate::screen::print;

/// Columns of what is written for no terminal.
const COLUMNS: usize = 80;

/// The command line without the verbs that assay calls itself by, which completions would offer.
fn visible() -> Command {
    let all = Cli::command();
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    Command::new("assay").args(all.get_arguments().cloned()).subcommands(verbs)
}

/// Prints the script of a shell.
pub fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "assay", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(Exit::Fine)
}

/// Writes `assay.1` and a page for each verb and what is below it.
pub fn pages(folder: &Path) -> Result<Exit> {
    fs::create_dir_all(folder).with_context(|| format!("make the folder {}", folder.display()))?;
    let command = help::with_help(Cli::command(), COLUMNS).disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder)
        .with_context(|| format!("write manual pages to {}", folder.display()))?;
    Ok(Exit::Fine)
}

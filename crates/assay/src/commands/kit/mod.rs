//! `assay kit`.

pub mod args;

use std::path::PathBuf;

use anyhow::Result;

use crate::arguments::Global;
use crate::commands::open::kit_paths;
use crate::exit::Exit;
use crate::screen::answer;
use crate::shipped;
use args::Kit;

/// Lists the kits, or checks one.
pub fn kit(global: &Global, kit: &Kit) -> Result<Exit> {
    match kit {
        Kit::List => {
            let kits = kit_paths()?.kits();
            let row =
                |(name, folder): (&String, &PathBuf)| format!("{name:<16} {}", folder.display());
            answer(global.json, &kits, || match kits.len() {
                0 => "no kits found; set ASSAY_KITS to the folder they are in".to_owned(),
                _ => kits.iter().map(row).collect::<Vec<_>>().join("\n"),
            })?;
            Ok(Exit::Fine)
        }
        Kit::Check { dir } => {
            let dir = &shipped::find(dir)?;
            let problems = assay_workloads::kit::check(dir);
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            answer(global.json, &texts, || match texts.as_slice() {
                [] => format!("{}: no problem found", dir.display()),
                texts => texts.join("\n"),
            })?;
            Ok(if problems.is_empty() { Exit::Fine } else { Exit::Usage })
        }
    }
}

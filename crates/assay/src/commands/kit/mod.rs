//! `assay kit`.

pub mod args;

use std::fmt::Write;

use anyhow::Result;

use crate::arguments::Global;
use crate::commands::open::kit_paths;
use crate::exit::Exit;
use crate::screen::{answer, print, print_json};
use crate::shipped;
use args::Kit;

/// Lists the kits, or checks one.
pub fn kit(global: &Global, kit: &Kit) -> Result<Exit> {
    match kit {
        Kit::List => {
            let kits = kit_paths()?.kits();
            if global.json {
                return print_json(&kits).map(|()| Exit::Fine);
            }
            let mut text = String::new();
            for (name, folder) in kits {
                let _ = writeln!(text, "{name:<16} {}", folder.display());
            }
            if text.is_empty() {
                text.push_str("no kits found; set ASSAY_KITS to the folder they are in\n");
            }
            print(&text).map(|()| Exit::Fine)
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

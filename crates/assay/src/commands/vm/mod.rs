//! `assay vm`: the kernels and root file systems that virtual machines boot from.

pub mod args;

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use assay_cluster::vm::{Image, VmConfig, ability, built};

use crate::arguments::Global;
use crate::exit::Exit;
use crate::screen::{print, print_json, write_file};
use args::Vm;

/// Script that builds a root file system and kernels, and the files that it reads from its own
/// folder.
const RECIPE: [(&str, &str); 3] = [
    ("image", include_str!("../../../../../scripts/vm/image")),
    ("init", include_str!("../../../../../scripts/vm/init")),
    ("guest.service", include_str!("../../../../../scripts/vm/guest.service")),
];

/// A kernel that has been built.
#[derive(Debug, serde::Serialize)]
struct BuiltKernel {
    kernel: String,
    release: String,
    folder: String,
}

/// Lists the built kernels, or builds some.
pub fn vm(global: &Global, asked: &Vm) -> Result<Exit> {
    match asked {
        Vm::List => list(global),
        Vm::Build { kernels } => build(kernels),
    }
}

fn list(global: &Global) -> Result<Exit> {
    let folder = assay_cluster::vm::folder();
    let found: Vec<BuiltKernel> = built(&folder)
        .into_iter()
        .filter_map(|kernel| {
            let machine = VmConfig::read(&[("kernel".to_owned(), kernel.as_str().into())].into());
            let image = Image::find(&machine.ok()?, &folder).ok()?;
            let folder = image.kernel.display().to_string();
            Some(BuiltKernel { kernel, release: image.release, folder })
        })
        .collect();
    let ability = ability();
    if global.json {
        let json = serde_json::json!({
            "schema_version": assay_model::SCHEMA_VERSION,
            "works": ability.works,
            "with": ability.words,
            "kernels": found,
        });
        return print_json(&json).map(|()| Exit::Fine);
    }
    let mut text = format!("{}\n", ability.words);
    for BuiltKernel { kernel, release, folder } in &found {
        let _ = writeln!(text, "  {kernel:<8} {release:<28} {folder}");
    }
    print(&text).map(|()| Exit::Fine)
}

fn build(kernels: &[String]) -> Result<Exit> {
    let root = assay_lab::scratch_root();
    let dir = assay_system::scratch::make(&root, assay_system::scratch::OWNER)
        .with_context(|| format!("cannot create a folder in {}", root.display()))?;
    let made = kernels.iter().try_for_each(|kernel| one(&dir, kernel));
    let _ = std::fs::remove_dir_all(&dir);
    made.map(|()| Exit::Fine)
}

fn one(dir: &Path, kernel: &str) -> Result<()> {
    for (name, text) in RECIPE {
        let path = dir.join(name);
        write_file(&path, text)?;
    }
    let output = Command::new("bash")
        .arg(dir.join("image"))
        .args(["kernel", kernel])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start bash")?;
    if !output.status.success() {
        bail!("kernel {kernel} is not built");
    }
    print(&String::from_utf8_lossy(&output.stdout))?;
    Ok(())
}

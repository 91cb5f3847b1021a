//! `assay new`: writes a commented experiment file or kit that runs as it is, with the JSON Schema
//! that editors complete and check it by.

pub mod args;

use std::path::Path;

use anyhow::{Context, Result};

use crate::commands::schema;
use crate::exit::{Exit, usage};
use crate::screen::{print, write_file};
use args::NewKind;

/// A file of a kit, with its text.
type KitFile = (&'static str, &'static str);

/// Writes the files of the given kind.
pub fn new(asked: &args::New) -> Result<Exit> {
    match asked.kind {
        NewKind::Experiment => experiment(&asked.path),
        NewKind::Kit => kit(
            &asked.path,
            include_str!("templates/kit.toml"),
            ("input.sh", include_str!("templates/input.sh")),
        ),
        NewKind::Reader => kit(
            &asked.path,
            include_str!("templates/reader.toml"),
            ("tool.sh", include_str!("templates/tool.sh")),
        ),
        NewKind::Workload => kit(
            &asked.path,
            include_str!("templates/workload.toml"),
            ("load.py", include_str!("templates/load.py")),
        ),
    }
}

fn experiment(path: &Path) -> Result<Exit> {
    let Some(name) = name_of(path).filter(|_| path.extension().is_some_and(|e| e == "toml")) else {
        return usage(format!(
            "`{}` is not the name of an experiment file: lower-case letters, digits and hyphens, \
             then .toml",
            path.display()
        ));
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = include_str!("templates/experiment.toml").replace("@NAME@", name);
    write_new(path, &text)?;
    write_schema(folder, "experiment")?;
    print(&format!("Run it: assay run {}", path.display())).map(|()| Exit::Fine)
}

fn kit(folder: &Path, toml: &str, (file, text): KitFile) -> Result<Exit> {
    let Some(name) = name_of(folder).filter(|_| folder.extension().is_none()) else {
        return usage(format!(
            "`{}` is not the name of a kit: lower-case letters, digits and hyphens",
            folder.display()
        ));
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    write_new(&folder.join("kit.toml"), &toml.replace("@NAME@", name))?;
    write_new(&folder.join(file), text)?;
    write_schema(folder, "kit")?;
    let shown = folder.display();
    // Without a slash it would be searched among the installed kits.
    let here = if folder.components().count() == 1 { "./" } else { "" };
    print(&format!("Run it: assay run {here}{shown} --blocks 5")).map(|()| Exit::Fine)
}

/// Returns the name that a path gives; `None` if a kit or an experiment cannot have it.
fn name_of(path: &Path) -> Option<&str> {
    let name = path.file_stem()?.to_str()?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(allowed))
        .then_some(name)
}

fn write_new(path: &Path, text: &str) -> Result<()> {
    if path.exists() {
        return usage(format!("{} exists already; choose another name", path.display()));
    }
    write_file(path, text)?;
    print(&path.display().to_string())
}

/// Writes the schema into the folder of a file, over an older one.
fn write_schema(folder: &Path, name: &str) -> Result<()> {
    let path = folder.join(format!("{name}.schema.json"));
    write_file(&path, schema::text(name)?)?;
    print(&path.display().to_string())
}

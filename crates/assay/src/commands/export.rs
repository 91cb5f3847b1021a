//! `--export FORMAT=FILE`: writes a run's result in another program's format.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use assay_report::RunView;
use assay_report::exports::{ExportFormat, format, listed};

use crate::exit::{Usage, usage};
use crate::screen::{STDOUT, write_file};

/// A format and the file to write it to.
#[derive(Clone)]
pub struct Export {
    format: &'static ExportFormat,
    file: PathBuf,
}

/// Returns the help text of `--export`.
pub fn help() -> String {
    format!(
        "Also write the result: FORMAT=FILE, with `-` for standard output. May be given several \
         times. Formats: {}",
        listed()
    )
}

/// Returns true if a result goes to standard output, which is then left to it.
pub fn to_stdout(exports: &[Export]) -> bool {
    exports.iter().any(|export| export.file == Path::new(STDOUT))
}

/// Parses the values of `--export`.
pub fn parse(given: &[String]) -> Result<Vec<Export>> {
    given.iter().map(|text| one(text)).collect()
}

fn one(text: &str) -> Result<Export> {
    let given = text.split_once('=').filter(|(_, file)| !file.is_empty());
    let found = given.and_then(|(name, file)| Some((format(name)?, PathBuf::from(file))));
    let (format, file) = found.ok_or_else(|| {
        Usage(format!("--export {text}: write FORMAT=FILE, FORMAT one of {}", listed()))
    })?;
    let folder = Path::new(&file).parent().filter(|folder| *folder != Path::new(""));
    if let Some(missing) = folder.filter(|folder| !folder.is_dir()) {
        return usage(format!("--export {text}: the folder {} does not exist", missing.display()));
    }
    Ok(Export { format, file })
}

impl Export {
    /// Writes the result to its file.
    pub fn write(&self, view: &RunView) -> Result<()> {
        let text = (self.format.write)(view).map_err(|e| anyhow!(e))?;
        write_file(&self.file, text)
    }
}

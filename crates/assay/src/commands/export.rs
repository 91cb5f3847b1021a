//! `--export FORMAT=FILE`: a run's result in another program's format.

use std::path::PathBuf;

use anyhow::{Context, Result};
use assay_report::{RunView, csv, hyperfine, json, junit, markdown, page};

use crate::exit::Usage;

/// One thing to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    format: Format,
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Markdown,
    Csv,
    Json,
    Hyperfine,
    Junit,
    Html,
}

/// Reads what was typed.
pub fn parse(given: &[String]) -> Result<Vec<Export>> {
    given.iter().map(|text| one(text)).collect()
}

fn one(text: &str) -> Result<Export> {
    let usage = || {
        Usage(format!(
            "--export {text}: write FORMAT=FILE, FORMAT one of md, csv, json, hyperfine, junit, html"
        ))
    };
    let (format, file) = text.split_once('=').ok_or_else(usage)?;
    let format = match format {
        "md" | "markdown" => Format::Markdown,
        "csv" => Format::Csv,
        "json" => Format::Json,
        "hyperfine" => Format::Hyperfine,
        "junit" => Format::Junit,
        "html" => Format::Html,
        _ => return Err(usage().into()),
    };
    if file.is_empty() {
        return Err(usage().into());
    }
    Ok(Export { format, file: file.into() })
}

impl Export {
    /// Writes it.
    pub fn write(&self, view: &RunView) -> Result<()> {
        let text = match self.format {
            Format::Markdown => markdown::write(view),
            Format::Csv => csv::trials(view),
            Format::Json => json::write(view)?,
            Format::Hyperfine => hyperfine::write(view)?,
            Format::Junit => junit::write(view),
            Format::Html => page::render(view),
        };
        std::fs::write(&self.file, text).with_context(|| format!("write {}", self.file.display()))
    }
}

//! Collection of results and definitions: the built-in ones, and folders in the same format.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use assay_model::nearest;
use serde::Serialize;

use super::build::build;
use super::definition::{Definition, read_definitions};
use super::{Landscape, LandscapeError, Query};
use crate::landscape::error::Result;
use crate::quoted::{
    DEFINITIONS, FILES, QuotedResult, QuotedSource, SOURCES, is_date, read, read_sources,
    read_unranked,
};

/// Maximum size of a file of results or definitions, bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Folders of results (`*.csv`), definitions (`landscapes.toml`) and sources (`sources.csv`).
#[derive(Debug, Clone)]
pub struct Collection {
    folders: Vec<CollectionFolder>,
}

#[derive(Debug, Clone, Default)]
struct CollectionFolder {
    name: String,
    files: Vec<(String, DefinitionText)>,
    definitions: Vec<Definition>,
    sources: Vec<QuotedSource>,
}

#[derive(Debug, Clone)]
enum DefinitionText {
    BuiltIn(&'static str),
    OnDisk(PathBuf),
    /// File for looking up single results: the rows of one metric may differ in unit.
    Unranked(PathBuf),
}

/// Name, aliases, title and folder of an available landscape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    pub name: String,
    pub aliases: Vec<String>,
    /// Title of the landscape; empty for a file without a definition.
    pub title: String,
    /// Folder that the landscape comes from.
    pub folder: String,
}

impl Collection {
    /// Creates a collection of the built-in results.
    ///
    /// # Errors
    /// A file in `published/` is malformed, which the tests prevent.
    pub fn built_in() -> Result<Self> {
        let folder = CollectionFolder {
            name: "published".to_owned(),
            files: FILES
                .iter()
                .map(|(n, t)| ((*n).to_owned(), DefinitionText::BuiltIn(t)))
                .collect(),
            definitions: read_definitions("published/landscapes.toml", DEFINITIONS)?,
            sources: read_sources("published/sources.csv", SOURCES.as_bytes())?,
        };
        folder.files_are_there("published/landscapes.toml", DEFINITIONS)?;
        Ok(Collection { folders: vec![folder] })
    }

    /// Adds a folder. Its landscapes take precedence over those of folders added earlier.
    ///
    /// # Errors
    /// The folder cannot be read, or its definitions or sources are malformed.
    pub fn add(&mut self, path: &Path) -> Result<()> {
        let unreadable = |source| LandscapeError::Read { path: path.to_owned(), source };
        let mut folder =
            CollectionFolder { name: path.display().to_string(), ..CollectionFolder::default() };
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            let Some(name) = file.file_name().and_then(|n| n.to_str()).map(str::to_owned) else {
                continue;
            };
            if name == "sources.csv" {
                folder.sources = read_sources(&shown(&file), open(&file)?)?;
            } else if file.extension().is_some_and(|e| e == "csv") {
                folder.files.push((name, DefinitionText::OnDisk(file)));
            }
        }
        folder.files.sort_by(|a, b| a.0.cmp(&b.0));
        let definitions = path.join("landscapes.toml");
        if definitions.exists() {
            open(&definitions)?;
            let text = fs::read_to_string(&definitions)
                .map_err(|source| LandscapeError::Read { path: definitions.clone(), source })?;
            folder.definitions = read_definitions(&shown(&definitions), &text)?;
            folder.files_are_there(&shown(&definitions), &text)?;
        }
        self.folders.push(folder);
        Ok(())
    }

    /// Adds one file of results, each in its own unit, for lookup by id.
    ///
    /// # Errors
    /// The file cannot be read, or a row is malformed.
    pub fn add_file(&mut self, path: &Path) -> Result<()> {
        let file = (shown(path), DefinitionText::Unranked(path.to_owned()));
        let folder = CollectionFolder { files: vec![file], ..CollectionFolder::default() };
        folder.rows(&shown(path))?;
        self.folders.push(folder);
        Ok(())
    }

    /// Lists the available landscapes: those with a definition, then files without one.
    pub fn list(&self) -> Vec<Listing> {
        let mut out: Vec<Listing> = Vec::new();
        for folder in self.folders.iter().rev() {
            for d in &folder.definitions {
                out.push(Listing {
                    name: d.name.as_ref().clone(),
                    aliases: d.aliases.clone(),
                    title: d.title.clone(),
                    folder: folder.name.clone(),
                });
            }
        }
        for folder in self.folders.iter().rev() {
            for (file, _) in &folder.files {
                let name = stem(file);
                if !out.iter().any(|l| l.name == name) {
                    out.push(Listing {
                        name: name.to_owned(),
                        aliases: Vec::new(),
                        title: String::new(),
                        folder: folder.name.clone(),
                    });
                }
            }
        }
        out
    }

    /// Reads every result of every file; folders added later come first.
    ///
    /// # Errors
    /// A file cannot be read or is malformed.
    pub fn results(&self) -> Result<Vec<QuotedResult>> {
        let mut all = Vec::new();
        for folder in self.folders.iter().rev() {
            for (file, _) in &folder.files {
                all.append(&mut folder.rows(file)?);
            }
        }
        Ok(all)
    }

    /// Returns the documents that results are quoted from; folders added later come first.
    pub fn sources(&self) -> impl Iterator<Item = &QuotedSource> {
        self.folders.iter().rev().flat_map(|f| &f.sources)
    }

    /// Builds the landscape with this name from a definition, or from a file of results without
    /// one.
    ///
    /// # Errors
    /// The landscape, day or metric does not exist, or a file is malformed: [`LandscapeError`].
    pub fn landscape(&self, name: &str, query: &Query) -> Result<Landscape> {
        if let Some(day) = query.as_of.as_ref().filter(|d| !is_date(d)) {
            return Err(LandscapeError::Date(day.clone()));
        }
        for folder in self.folders.iter().rev() {
            if let Some(definition) = folder.definitions.iter().find(|d| d.is_called(name)) {
                let mut rows = Vec::new();
                for file in &definition.files {
                    rows.append(&mut folder.rows(file)?);
                }
                the_metric(name, query, &rows, false)?;
                return build(definition, &rows, &folder.sources, query);
            }
        }
        for folder in self.folders.iter().rev() {
            if let Some((file, _)) = folder.files.iter().find(|(f, _)| stem(f) == name) {
                let rows = folder.rows(file)?;
                the_metric(name, query, &rows, true)?;
                let definition = plain(name, file, &rows, query);
                return build(&definition, &rows, &folder.sources, query);
            }
        }
        let list = self.list();
        let names = list
            .iter()
            .flat_map(|l| std::iter::once(&l.name).chain(&l.aliases))
            .map(String::as_str);
        let hint = nearest(name, names).map(|n| format!("; did you mean `{n}`?"));
        Err(LandscapeError::Unknown { name: name.to_owned(), hint: hint.unwrap_or_default() })
    }
}

impl CollectionFolder {
    fn rows(&self, file: &str) -> Result<Vec<QuotedResult>> {
        match self.files.iter().find(|(f, _)| f == file) {
            Some((name, DefinitionText::BuiltIn(text))) => {
                Ok(read(&format!("{}/{name}", self.name), text.as_bytes())?)
            }
            Some((_, DefinitionText::OnDisk(path))) => Ok(read(&shown(path), open(path)?)?),
            Some((_, DefinitionText::Unranked(path))) => {
                Ok(read_unranked(&shown(path), open(path)?)?)
            }
            None => Err(LandscapeError::Read {
                path: Path::new(&self.name).join(file),
                source: std::io::ErrorKind::NotFound.into(),
            }),
        }
    }

    /// Checks that every file that a definition names is in the folder.
    fn files_are_there(&self, name: &str, text: &str) -> Result<()> {
        for d in &self.definitions {
            if let Some(absent) = d.files.iter().find(|f| !self.files.iter().any(|(n, _)| n == *f))
            {
                let before = text.get(..d.name.span().start).unwrap_or("");
                return Err(LandscapeError::Definition {
                    name: name.to_owned(),
                    line: before.matches('\n').count() + 1,
                    column: before.rsplit('\n').next().unwrap_or("").chars().count() + 1,
                    message: format!(
                        "`{}` names the file `{absent}`, which is not in its folder",
                        d.name.as_ref()
                    ),
                });
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File> {
    let unreadable = |source| LandscapeError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    if bytes > MAX_BYTES {
        return Err(LandscapeError::TooBig { path: path.to_owned(), bytes, most: MAX_BYTES });
    }
    Ok(file)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn stem(file: &str) -> &str {
    file.strip_suffix(".csv").unwrap_or(file)
}

/// Checks that the requested metric exists, and that one is requested where `one_only` requires it.
fn the_metric(name: &str, query: &Query, rows: &[QuotedResult], one_only: bool) -> Result<()> {
    let mut metrics: Vec<&str> = Vec::new();
    for row in rows {
        if metrics.last() != Some(&row.metric.as_str()) && !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    let problem = match &query.metric {
        Some(metric) if metrics.contains(&metric.as_str()) => return Ok(()),
        Some(metric) => {
            let meant = nearest(metric, metrics.iter().copied());
            let hint = meant.map(|m| format!(" (did you mean `{m}`?)")).unwrap_or_default();
            format!("has no metric `{metric}`{hint}")
        }
        None if one_only && metrics.len() > 1 => {
            "has several metrics: choose one with --metric".into()
        }
        None => return Ok(()),
    };
    let known = metrics.into_iter().map(str::to_owned).collect();
    Err(LandscapeError::Metric { landscape: format!("`{name}`"), problem, known })
}

/// Builds a definition for a file without one: its columns are those that distinguish the rows.
fn plain(name: &str, file: &str, rows: &[QuotedResult], query: &Query) -> Definition {
    let candidates = [
        "system",
        "processor",
        "chips",
        "cores",
        "threads",
        "ghz",
        "os",
        "compiler_or_jvm",
        "config_note",
    ];
    let metric = query.metric.as_deref();
    let shown: Vec<&QuotedResult> =
        rows.iter().filter(|r| metric.is_none_or(|m| r.metric == m)).collect();
    let mut fields: Vec<&str> = candidates
        .into_iter()
        .filter(|c| {
            let first = shown.first().and_then(|r| r.field(c));
            *c == "system" || shown.iter().any(|r| r.field(c) != first)
        })
        .collect();
    if fields.len() > 5 {
        fields.retain(|f| *f != "config_note");
    }
    let title = rows.first().map_or_else(|| name.to_owned(), |r| r.benchmark.clone());
    Definition::plain(name, title, file, &fields)
}

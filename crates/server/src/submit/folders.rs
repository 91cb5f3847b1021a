//! Experiments that may be submitted: the `.toml` files of the folders that the server was started
//! with. A client names an experiment by its file name and never gives a path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::Experiment;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum size of an experiment file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Experiment that may be submitted.
#[derive(Debug, Clone)]
pub(crate) struct ExperimentFile {
    pub id: String,
    pub path: PathBuf,
    pub text: String,
    /// Parsed experiment, or why the file cannot be read.
    pub experiment: Result<Box<Experiment>, String>,
    /// True if the experiment is not the one of the file.
    pub edited: bool,
}

/// Entry in the list of experiments.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ExperimentLine {
    /// Id to submit the experiment by: its file name without `.toml`.
    pub id: String,
    /// Title of the experiment; may be empty.
    pub title: String,
    /// Workload of the experiment; empty if the file cannot be read.
    pub workload: String,
    /// Error of the file; `null` if it can be read.
    pub problem: Option<String>,
}

impl ExperimentFile {
    /// Creates an experiment from a text without a file. Errors call the text `source`. No kit next
    /// to a file is used.
    pub fn of_text(source: &str, id: String, text: String) -> Self {
        let experiment = parsed(source, &text);
        ExperimentFile { id, path: PathBuf::new(), text, experiment, edited: true }
    }

    pub fn line(&self) -> ExperimentLine {
        let (title, workload, problem) = match &self.experiment {
            Ok(e) => (e.title.trim().to_owned(), e.workload.clone(), None),
            Err(problem) => (String::new(), String::new(), Some(problem.clone())),
        };
        ExperimentLine { id: self.id.clone(), title, workload, problem }
    }
}

/// Returns the experiments of the folders, sorted by name. If several folders have an experiment of
/// one name, the first folder wins. Links that lead out of a folder are not followed.
pub(crate) fn list(folders: &[PathBuf]) -> Vec<ExperimentFile> {
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for folder in folders {
        let (Ok(root), Ok(entries)) = (folder.canonicalize(), std::fs::read_dir(folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_suffix(".toml").filter(|id| is_plain(id)) else { continue };
            let inside = entry.path().canonicalize().is_ok_and(|p| p.starts_with(&root));
            if inside && entry.path().is_file() {
                found.entry(id.to_owned()).or_insert_with(|| entry.path());
            }
        }
    }
    found.into_iter().map(|(id, path)| read(id, path)).collect()
}

pub(crate) fn find(folders: &[PathBuf], id: &str) -> Option<ExperimentFile> {
    list(folders).into_iter().find(|listed| listed.id == id)
}

fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 100
        && !id.starts_with('.')
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

fn read(id: String, path: PathBuf) -> ExperimentFile {
    let (text, experiment) = match text_of(&path) {
        Ok(text) => {
            let experiment = parsed(&format!("{id}.toml"), &text);
            (text, experiment)
        }
        Err(problem) => (String::new(), Err(problem)),
    };
    ExperimentFile { id, path, text, experiment, edited: false }
}

fn parsed(name: &str, text: &str) -> Result<Box<Experiment>, String> {
    assay_lab::read_experiment(name, text).map(Box::new).map_err(|e| e.render(false))
}

fn text_of(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("the file has {size} bytes; at most {MAX_BYTES} are read"));
    }
    std::fs::read_to_string(path).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_the_folders() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("in");
        std::fs::create_dir(&inside).unwrap();
        let text = "name = \"x\"\nworkload = \"noop\"";
        std::fs::write(inside.join("good.toml"), text).unwrap();
        std::fs::write(inside.join("bad.toml"), "name = ").unwrap();
        std::fs::write(inside.join(".hidden.toml"), text).unwrap();
        std::fs::write(dir.path().join("out.toml"), text).unwrap();
        std::os::unix::fs::symlink(dir.path().join("out.toml"), inside.join("link.toml")).unwrap();
        let folders = [inside];
        let ids: Vec<String> = list(&folders).into_iter().map(|l| l.id).collect();
        assert_eq!(ids, ["bad", "good"]);
        assert!(find(&folders, "bad").unwrap().line().problem.is_some());
        for outside in ["../out", "link", "/etc/passwd", "good.toml", ""] {
            assert!(find(&folders, outside).is_none(), "{outside}");
        }
    }
}

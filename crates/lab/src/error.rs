//! Errors of the lab. A workload that fails is a record, not an error.

use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet, renderer::DecorStyle};
use assay_model::RunId;
use toml::de::{DeTable, DeValue};

/// Error that keeps the lab from planning, running or analysing an experiment.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A mistake in an experiment file.
    #[error(transparent)]
    File(#[from] FileError),
    /// An experiment that did not come from a file cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    /// The stored findings about a history could not be read or written.
    #[error("{what} {path}: {source}")]
    History {
        /// The attempted operation, as a verb.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The experiment seems to contain a token; everything in an experiment is recorded and shown.
    #[error(
        "`{path}` of the experiment contains a value that {reason}; experiments are recorded and \
         published, so pass secrets to the program in an environment variable or a file"
    )]
    Token {
        /// Path of the key in the experiment.
        path: String,
        /// Reason why the value looks like a token.
        reason: &'static str,
    },
    /// The revisions of `[source]` cannot be resolved or built.
    #[error(transparent)]
    Revision(#[from] assay_system::revisions::RevisionError),
    /// A revision that everything is compared with does not build, or none builds.
    #[error("{label} does not build, and {without}: {reason}")]
    Unbuilt {
        /// Label of the revision.
        label: String,
        /// Reason why the run is impossible without the revision.
        without: &'static str,
        /// Reason with the end of the build's output.
        reason: String,
    },
    /// The workload is unknown, or its kit is wrong.
    #[error(transparent)]
    Workload(#[from] assay_workloads::WorkloadError),
    /// The archive could not be written or read.
    #[error(transparent)]
    Archive(#[from] assay_archive::Error),
    /// A control of the experiment cannot be set on this machine.
    #[error("{prefix}{source}")]
    Control {
        /// Prefix that names the treatment, from [`assay_model::Treatment::prefix`].
        prefix: String,
        /// The control and the reason.
        source: assay_system::ControlError,
    },
    /// The machine is not fit to measure on, and the experiment refuses to run then.
    #[error("the machine is not fit to measure on: {0}; wait, or set fitness.action to \"warn\"")]
    Unfit(#[from] crate::fitness::Unfit),
    /// A monitor could not be started.
    #[error(transparent)]
    Observe(#[from] assay_observe::ObserveError),
    /// No scratch folder could be created.
    #[error(
        "cannot create a scratch folder in {root}: {source}; set ASSAY_SCRATCH to a writable folder"
    )]
    Scratch {
        /// Folder in which the scratch folder was to be created.
        root: PathBuf,
        source: std::io::Error,
    },
    /// The nodes of a cluster are unavailable.
    #[error(transparent)]
    Cluster(#[from] assay_cluster::ClusterError),
    /// Resuming was requested for a run that is complete.
    #[error("run {0} is complete; there is nothing to resume")]
    NothingToResume(RunId),
    /// The workload changed since the run was made.
    #[error("cannot continue run {run}: {reason}; start a new run instead")]
    CannotResume { run: RunId, reason: String },
}

/// Result of planning an experiment.
pub(crate) type Result<T, E = PlanError> = std::result::Result<T, E>;

/// An experiment that cannot be planned: the place in the file, the mistake and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}{help}", if help.is_empty() { "" } else { "; " })]
pub struct PlanError {
    /// Path of the key, for example `["factors", "level"]`.
    pub path: Vec<String>,
    /// Description of the mistake.
    pub message: String,
    /// Advice on a correct value; may be empty.
    pub help: String,
}

pub(crate) fn wrong(
    path: &[&str],
    message: impl Into<String>,
    help: impl Into<String>,
) -> PlanError {
    PlanError {
        path: path.iter().map(|p| (*p).to_owned()).collect(),
        message: message.into(),
        help: help.into(),
    }
}

/// A mistake in an experiment file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct FileError {
    /// Name of the file as the user gave it.
    pub file: String,
    pub(crate) text: String,
    /// Byte range of the mistake in the text, if known.
    pub(crate) span: Option<Range<usize>>,
    /// Description of the mistake.
    pub message: String,
    /// Advice on a correct value; empty if the message contains it.
    pub help: String,
}

impl FileError {
    /// Creates an error at the value of a key, given by its path (`["design", "blocks"]`). The
    /// error points at the deepest part of the path that exists in the file.
    pub fn at(file: &str, text: &str, path: &[&str], message: String, help: String) -> Self {
        FileError {
            file: file.to_owned(),
            text: text.to_owned(),
            span: locate(text, path),
            message,
            help,
        }
    }

    /// Renders the message with the affected lines of the file.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let title = Level::ERROR.primary_title(self.message.as_str());
        let span = self.span.clone().filter(|s| s.end <= self.text.len());
        let snippet = span.map(|span| {
            Snippet::source(self.text.as_str())
                .path(self.file.as_str())
                .annotation(AnnotationKind::Primary.span(span))
        });
        let mut group = match snippet {
            Some(snippet) => title.element(snippet),
            None => title.element(Level::NOTE.message(format!("in {}", self.file))),
        };
        if !self.help.is_empty() {
            group = group.element(Level::HELP.message(self.help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// Returns the byte range of the value at `path`, or of the deepest part of the path that exists.
fn locate(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    let mut span = None;
    for (i, key) in path.iter().enumerate() {
        let Some((name, value)) = table.iter().find(|(k, _)| k.get_ref().as_ref() == *key) else {
            break;
        };
        span = Some(if i + 1 == path.len() { value.span() } else { name.span() });
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    span
}

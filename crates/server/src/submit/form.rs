//! Reads the form of a submission as it was filled in. Fields that were not edited change nothing.

use crate::app::App;
use crate::error::Refusal;
use crate::submit::draft::{self, Problem};
use crate::submit::submission::Submission;

/// Form of a submission as filled in.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilledForm {
    /// Submission that the form describes.
    pub asked: Submission,
    /// Values that could not be read.
    pub problems: Vec<Problem>,
    /// Text that the form was opened with; empty if it was the text of the experiment's file.
    pub base: String,
    /// Fields as they were sent, to be shown again.
    sent: Vec<(String, String)>,
}

impl FilledForm {
    /// Creates a form that opens with a submission.
    pub fn new(asked: Submission) -> Self {
        FilledForm { base: asked.toml.clone().unwrap_or_default(), asked, ..FilledForm::default() }
    }

    /// Reads the fields of a form.
    ///
    /// # Errors
    /// The experiment or the workload does not exist.
    pub fn read(app: &App, sent: Vec<(String, String)>) -> Result<Self, Refusal> {
        let get = |name: &str| {
            let found = sent.iter().find(|(n, _)| n == name);
            found.map(|(_, value)| value.trim().replace("\r\n", "\n")).unwrap_or_default()
        };
        let some = |name: &str| Some(get(name)).filter(|text| !text.is_empty());
        let (base, toml) = (some("base"), some("toml"));
        let mut asked = Submission {
            experiment: get("experiment"),
            workload: some("workload"),
            toml: base.clone(),
            rev: some("rev"),
            reference: some("reference"),
            not_before: some("not_before").map(|t| time_of(&t)),
            first: some("first").is_some(),
            by: get("by"),
            ..Submission::default()
        };
        let words = get("tags");
        let words = words.split([',', ' ']).map(str::trim).filter(|t| !t.is_empty());
        asked.tags = words.map(str::to_owned).collect();
        let opened = draft::opened(app, &asked)?;
        let changed = toml.as_deref().is_some_and(|text| text != opened.toml.trim());
        // The page's script sends which of the two was edited last.
        let by_text = match get("edited").as_str() {
            "toml" => true,
            "fields" => false,
            _ => changed,
        };
        let mut problems = Vec::new();
        if by_text {
            asked.toml = toml.filter(|_| changed).or(base.clone());
        } else {
            for (name, value) in &sent {
                let Some(name) = name.strip_prefix("set.") else { continue };
                let field = opened.fields.iter().find(|f| f.param.name == name);
                let before = field.and_then(|f| f.value.as_deref()).unwrap_or_default();
                if value.trim() != before {
                    asked.set.insert(name.to_owned(), value.trim().to_owned());
                }
            }
            match some("blocks").map(|text| text.parse::<u32>().map_err(|_| text)) {
                Some(Ok(blocks)) if opened.blocks != Some(blocks) => asked.blocks = Some(blocks),
                Some(Err(text)) => problems.push(Problem {
                    field: "blocks".into(),
                    message: format!("`{text}` is not a number of blocks"),
                }),
                _ => {}
            }
        }
        Ok(FilledForm { asked, problems, base: base.unwrap_or_default(), sent })
    }

    /// Returns the text of a field as it was typed.
    pub fn text(&self, name: &str) -> String {
        let found = self.sent.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Returns the number of blocks as it was typed, or the one of the experiment if the field was
    /// not sent.
    pub fn blocks(&self, draft: &draft::Draft) -> String {
        if self.sent.iter().any(|(n, _)| n == "blocks") {
            return self.text("blocks");
        }
        draft.blocks.map(|n| n.to_string()).unwrap_or_default()
    }
}

/// Completes the time of a form's field, which has neither seconds nor a zone and means UTC.
fn time_of(value: &str) -> String {
    if value.ends_with('Z') { value.to_owned() } else { format!("{value}:00Z") }
}

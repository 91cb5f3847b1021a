//! A document as a list of parts. `crate::parts` builds the parts once, and a small renderer for
//! each output writes them: [`terminal`], [`html`] and [`markdown`]. A part or a column may be
//! limited to some outputs; text and numbers that several outputs show are the same in all of them.

pub mod html;
pub mod markdown;
pub(crate) mod packed;
pub mod table;
pub mod terminal;
pub mod text;
pub mod trial_links;

use assay_model::{Finding, Verdict};
use maud::Markup;

use crate::merged_sentences::trials_text;

pub use table::{Table, TableCell, cell};
pub use text::{NOTHING, Text, TextStyle, Tone, text};
pub use trial_links::TrialLinks;

/// Sentence that is shown if the checks found nothing.
pub(crate) const NO_FINDINGS: &str = "The checks found nothing to report.";

/// The outputs that show a part or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outputs {
    #[default]
    All,
    /// The published outputs: HTML and Markdown.
    Published,
    /// The HTML page alone.
    Page,
    Markdown,
    /// The terminal with all details.
    Terminal,
    /// The few lines that end a run.
    Brief,
    /// Every output except [`Outputs::Brief`].
    Full,
}

impl Outputs {
    /// Returns true if `output` shows a part that is meant for `self`.
    pub fn shows(self, output: Outputs) -> bool {
        self == Outputs::All
            || self == output
            || (self == Outputs::Published && matches!(output, Outputs::Page | Outputs::Markdown))
            || (self == Outputs::Full && output != Outputs::Brief)
    }
}

/// A part of a document, such as a paragraph, a table or a chart.
#[derive(Debug, Clone)]
pub enum DocumentPart {
    /// A heading: its level, the id that links lead to (empty for none) and its text.
    Heading(u8, String, Text),
    /// A paragraph; a soft one is about the part before it.
    Paragraph(Tone, Text),
    /// Sentences or items, one below the other.
    List(Tone, Vec<Text>),
    /// Comparisons with their verdicts.
    Cards(Vec<Card>),
    /// A table with its caption.
    Table(Table),
    /// A chart; only HTML draws it.
    Figure(Figure),
    /// Findings of the checks; an empty list is written as [`NO_FINDINGS`].
    Findings(Vec<ShownFinding>),
    /// Parts that HTML folds away under a summary. Other outputs write the summary above the parts,
    /// unless the first part is a table with a caption.
    Details { summary: String, open: bool, parts: Parts },
    /// A file inside a page, for download.
    File { name: String, label: String, text: String },
    /// Names, each with its value.
    Pairs(Vec<(String, String)>),
    /// Verbatim text, such as a file; the first field is its language.
    Code(&'static str, String),
}

/// A comparison with its verdict.
#[derive(Debug, Clone)]
pub struct Card {
    pub verdict: Verdict,
    /// Metric and ratio, for a page.
    pub headline: Text,
    /// The comparison in words.
    pub words: String,
    /// Reason for the verdict, if any.
    pub reason: String,
}

/// A chart with its caption, its description and the parts below it.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The chart as SVG.
    pub chart: Markup,
    /// Content of the chart in a sentence.
    pub caption: Text,
    /// Description for Markdown; empty if a table next to the chart has the same content.
    pub words: String,
    /// Parts below the chart.
    pub under: Parts,
}

/// A finding and the trials or numbers that it is about.
#[derive(Debug, Clone)]
pub struct ShownFinding {
    pub finding: Finding,
    /// The trials or numbers that carry the finding.
    pub about: FindingSubject,
    /// HTML id of the finding, if something links to it.
    pub id: Option<String>,
}

/// The subject of a finding.
#[derive(Debug, Clone)]
pub enum FindingSubject {
    /// Trials by number; empty for a finding about the whole.
    Trials(Vec<u32>),
    /// Numbers of a post by anchor; empty for a finding about the whole.
    Numbers(Vec<String>),
}

impl ShownFinding {
    /// Wraps a finding about the whole run or post.
    pub fn whole(finding: &Finding) -> Self {
        ShownFinding {
            finding: finding.clone(),
            about: FindingSubject::Trials(Vec::new()),
            id: None,
        }
    }

    /// Returns the trials or numbers with the finding, in parentheses; empty for a finding about
    /// the whole.
    pub fn place(&self) -> String {
        let about = match &self.about {
            FindingSubject::Trials(trials) => trials_text(trials),
            FindingSubject::Numbers(anchors) => anchors.join(", "),
        };
        if about.is_empty() { about } else { format!(" ({about})") }
    }
}

/// The parts of a document in order, each with the outputs that show it.
#[derive(Debug, Clone, Default)]
pub struct Parts(pub Vec<(Outputs, DocumentPart)>);

impl Parts {
    /// Creates a document of one part, for all outputs.
    pub fn from_part(part: DocumentPart) -> Self {
        Parts(vec![(Outputs::All, part)])
    }

    /// Adds a part for the outputs `on`.
    pub fn on(&mut self, on: Outputs, part: DocumentPart) {
        self.0.push((on, part));
    }

    /// Adds a part for all outputs.
    pub fn push(&mut self, part: DocumentPart) {
        self.on(Outputs::All, part);
    }

    /// Adds a heading to the published outputs; in a terminal, captions replace it.
    pub fn heading(&mut self, id: &str, words: impl Into<Text>) {
        self.on(Outputs::Published, DocumentPart::Heading(3, id.to_owned(), words.into()));
    }

    /// Adds a plain paragraph.
    pub fn say(&mut self, words: impl Into<Text>) {
        self.push(DocumentPart::Paragraph(Tone::Plain, words.into()));
    }

    /// Adds a soft paragraph about the part before it.
    pub fn note(&mut self, words: impl Into<Text>) {
        self.push(DocumentPart::Paragraph(Tone::Soft, words.into()));
    }

    /// Adds soft paragraphs about the part before them.
    pub fn notes(&mut self, all: impl IntoIterator<Item = String>) {
        for words in all {
            self.note(words);
        }
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.push(DocumentPart::Table(table));
        }
    }

    /// Adds a chart with its caption.
    pub fn figure(&mut self, chart: Markup, caption: impl Into<Text>) {
        let (words, under) = (String::new(), Parts::default());
        self.push(DocumentPart::Figure(Figure { chart, caption: caption.into(), words, under }));
    }

    /// Adds a heading that all outputs show.
    pub fn titled(&mut self, words: impl Into<Text>) {
        self.push(DocumentPart::Heading(3, String::new(), words.into()));
    }

    /// Adds a paragraph in a tone.
    pub(crate) fn toned(&mut self, tone: Tone, words: impl Into<Text>) {
        self.push(DocumentPart::Paragraph(tone, words.into()));
    }

    /// Adds all parts of `other`.
    pub fn append(&mut self, other: Parts) {
        self.0.extend(other.0);
    }

    /// Adds findings about the whole, if there are any.
    pub fn findings(&mut self, all: &[Finding]) {
        if !all.is_empty() {
            self.push(DocumentPart::Findings(all.iter().map(ShownFinding::whole).collect()));
        }
    }

    /// Returns true if the first part is a table with a caption.
    pub(crate) fn are_captioned(&self) -> bool {
        matches!(self.0.first(), Some((_, DocumentPart::Table(t))) if !t.caption.is_empty())
    }

    /// Returns true if a table cell links to `place`.
    pub fn leads_to(&self, place: &str) -> bool {
        let leads = |c: &TableCell| {
            c.text.0.iter().any(|(look, _)| matches!(look, TextStyle::Link(to) if to == place))
        };
        self.0.iter().any(|(_, part)| match part {
            DocumentPart::Table(t) => t.rows.iter().flat_map(|r| &r.cells).any(leads),
            _ => false,
        })
    }

    /// Returns every text of the paragraphs and table cells.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Text> {
        self.0.iter_mut().flat_map(|(_, part)| -> Box<dyn Iterator<Item = &mut Text>> {
            match part {
                DocumentPart::Paragraph(_, words) => Box::new(std::iter::once(words)),
                DocumentPart::Table(t) => {
                    Box::new(t.rows.iter_mut().flat_map(|r| &mut r.cells).map(|c| &mut c.text))
                }
                _ => Box::new(std::iter::empty()),
            }
        })
    }

    /// Returns the parts that `output` shows.
    pub fn shown(&self, output: Outputs) -> impl Iterator<Item = &DocumentPart> {
        self.0.iter().filter(move |(on, _)| on.shows(output)).map(|(_, part)| part)
    }
}

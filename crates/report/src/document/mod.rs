//! What assay shows of one thing, as parts that are built once (`crate::parts`) and written by one small
//! renderer for each output: [`terminal`], [`html`], [`markdown`]. A part or a column may be for some
//! outputs only; the words and numbers of what several outputs show are the same in all.

pub(crate) mod behind;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod text;

use assay_model::{Finding, Verdict};
use maud::Markup;

use crate::alike::trials_text;

pub(crate) use behind::Behind;
pub(crate) use table::{Cell, Table, cell};
pub(crate) use text::{Look, NOTHING, Text, Tone, text};

/// What stands where the checks found nothing.
pub(crate) const NO_FINDINGS: &str = "The checks found nothing to report.";

/// Which outputs show a part or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum On {
    /// All.
    #[default]
    All,
    /// What is published: HTML and Markdown.
    Published,
    /// HTML.
    Page,
    /// Markdown.
    Markdown,
    /// The terminal, in full.
    Terminal,
    /// The few lines that a run ends with.
    Brief,
    /// All but those.
    Full,
}

impl On {
    /// Whether an output shows it; `self` is what it is for.
    pub(crate) fn shows(self, output: On) -> bool {
        self == On::All
            || self == output
            || (self == On::Published && matches!(output, On::Page | On::Markdown))
            || (self == On::Full && output != On::Brief)
    }
}

/// One part.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// A heading of a level, with the id that links lead to; without one where that is empty.
    Heading(u8, String, Text),
    /// A paragraph; a soft one is about the part before it.
    Paragraph(Tone, Text),
    /// Sentences or items under each other.
    List(Tone, Vec<Text>),
    /// Comparisons with their verdicts.
    Cards(Vec<Card>),
    /// A table.
    Table(Table),
    /// A chart: no output but HTML draws it.
    Figure(Figure),
    /// What the checks found; of none, that there is none.
    Findings(Vec<Found>),
    /// Parts that HTML folds away under a summary; elsewhere the caption of a table that comes first stands for
    /// that.
    Details { summary: String, open: bool, parts: Parts },
    /// A file inside a page, for download.
    File { name: String, label: String, text: String },
    /// Names and what each is.
    Pairs(Vec<(String, String)>),
    /// Text as it is, such as a file, in a language.
    Code(&'static str, String),
}

/// A comparison.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) verdict: Verdict,
    /// Metric and ratio, for a page.
    pub(crate) headline: Text,
    /// What it says.
    pub(crate) words: String,
    /// Why it has its verdict.
    pub(crate) reason: String,
}

/// A chart with what stands around it.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// The chart as SVG.
    pub(crate) chart: Markup,
    /// What it is, in a sentence.
    pub(crate) caption: Text,
    /// What it shows, in words, for Markdown; empty where a table beside it does.
    pub(crate) words: String,
    /// What stands under it.
    pub(crate) under: Parts,
}

/// A finding and where it applies.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The finding.
    pub(crate) finding: Finding,
    /// Where it applies; the trials or numbers that carry it.
    pub(crate) about: About,
    /// Its anchor, where something leads to it.
    pub(crate) id: Option<String>,
}

/// What a finding is about.
#[derive(Debug, Clone)]
pub(crate) enum About {
    /// Trials by number; none: the whole.
    Trials(Vec<u32>),
    /// Numbers of a post by anchor; none: the whole.
    Numbers(Vec<String>),
}

impl Found {
    /// A finding about the whole.
    pub(crate) fn whole(finding: &Finding) -> Self {
        Found { finding: finding.clone(), about: About::Trials(Vec::new()), id: None }
    }

    /// The trials or numbers with the finding, in brackets; empty for a finding about the whole.
    pub(crate) fn place(&self) -> String {
        let about = match &self.about {
            About::Trials(trials) => trials_text(trials),
            About::Numbers(anchors) => anchors.join(", "),
        };
        if about.is_empty() { about } else { format!(" ({about})") }
    }
}

/// Parts in their order, each with the outputs that it is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts(pub(crate) Vec<(On, Part)>);

impl Parts {
    /// One part.
    pub(crate) fn of(part: Part) -> Self {
        Parts(vec![(On::All, part)])
    }

    /// Adds a part for some outputs.
    pub(crate) fn on(&mut self, on: On, part: Part) {
        self.0.push((on, part));
    }

    /// Adds a part for all outputs.
    pub(crate) fn push(&mut self, part: Part) {
        self.on(On::All, part);
    }

    /// A heading for what is published; captions say the same in a terminal.
    pub(crate) fn heading(&mut self, id: &str, words: impl Into<Text>) {
        self.on(On::Published, Part::Heading(3, id.to_owned(), words.into()));
    }

    /// A paragraph.
    pub(crate) fn say(&mut self, words: impl Into<Text>) {
        self.push(Part::Paragraph(Tone::Plain, words.into()));
    }

    /// A paragraph about the part before it.
    pub(crate) fn note(&mut self, words: impl Into<Text>) {
        self.push(Part::Paragraph(Tone::Soft, words.into()));
    }

    /// Paragraphs about the part before them.
    pub(crate) fn notes(&mut self, all: impl IntoIterator<Item = String>) {
        for words in all {
            self.note(words);
        }
    }

    /// A table, unless it has no rows.
    pub(crate) fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.push(Part::Table(table));
        }
    }

    /// A chart.
    pub(crate) fn figure(&mut self, chart: Markup, caption: impl Into<Text>) {
        let (words, under) = (String::new(), Parts::default());
        self.push(Part::Figure(Figure { chart, caption: caption.into(), words, under }));
    }

    /// A heading that all outputs show.
    pub(crate) fn titled(&mut self, words: impl Into<Text>) {
        self.push(Part::Heading(3, String::new(), words.into()));
    }

    /// A paragraph in a tone.
    pub(crate) fn toned(&mut self, tone: Tone, words: impl Into<Text>) {
        self.push(Part::Paragraph(tone, words.into()));
    }

    /// All parts of another.
    pub(crate) fn append(&mut self, other: Parts) {
        self.0.extend(other.0);
    }

    /// Findings that are about the whole; nothing where there is none.
    pub(crate) fn findings(&mut self, all: &[Finding]) {
        if !all.is_empty() {
            self.push(Part::Findings(all.iter().map(Found::whole).collect()));
        }
    }

    /// Whether they begin with a table that says what it is.
    pub(crate) fn are_captioned(&self) -> bool {
        matches!(self.0.first(), Some((_, Part::Table(t))) if !t.caption.is_empty())
    }

    /// Whether a cell of a table leads to a place of the page.
    pub(crate) fn leads_to(&self, place: &str) -> bool {
        let leads = |c: &Cell| {
            c.text.0.iter().any(|(look, _)| matches!(look, Look::Link(to) if to == place))
        };
        self.0.iter().any(|(_, part)| matches!(part, Part::Table(t) if t.rows.iter().flat_map(|r| &r.cells).any(leads)))
    }

    /// Every text of paragraphs and of the cells of tables.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut Text> {
        self.0.iter_mut().flat_map(|(_, part)| -> Box<dyn Iterator<Item = &mut Text>> {
            match part {
                Part::Paragraph(_, words) => Box::new(std::iter::once(words)),
                Part::Table(t) => {
                    Box::new(t.rows.iter_mut().flat_map(|r| &mut r.cells).map(|c| &mut c.text))
                }
                _ => Box::new(std::iter::empty()),
            }
        })
    }

    /// The parts that an output shows.
    pub(crate) fn shown(&self, output: On) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(move |(on, _)| on.shows(output)).map(|(_, part)| part)
    }
}

//! The evaluated form of a template: numbers with their derivations, blocks, findings, and the
//! Markdown with places for them.

use std::collections::BTreeMap;

use assay_checks::ComparisonEvidence;
use assay_model::{Finding, Interval, Severity};
use assay_quoted::denominator::{Basis, Denominator, Matrix};
use assay_quoted::pack::PackVerdict;
use assay_quoted::quantity::Quantity;
use assay_quoted::quoted::QuotedResult;
use maud::Markup;
use serde::Serialize;

use super::amount::FunctionAnswer;
use super::answer::Claim;
use super::front::FrontMatter;
use super::typed::Marks;
use assay_report::RunView;
use assay_report::document::{
    DocumentPart, Figure, Outputs, Parts, Table, TableCell, Text, TextStyle, cell, text,
};
use assay_report::figures::count;

/// A post that can be written in any format.
#[derive(Debug)]
pub struct Post {
    /// Name of the template.
    pub file: String,
    /// Front matter of the template.
    pub front: FrontMatter,
    /// Version of assay that computed the post.
    pub assay_version: String,
    /// Every computed number, in the order of the text; the anchor of the first is `d1`.
    pub numbers: Vec<ComputedNumber>,
    /// Findings with the numbers that carry them (none: about the post).
    pub findings: Vec<PostFinding>,
    /// Every quoted result that the post rests on, by id.
    pub results: Vec<UsedResult>,
    /// The runs that the post rests on, by the template's names for them.
    pub runs: BTreeMap<String, RunView>,
    /// Trademark notes of the quoted benchmarks.
    pub trademarks: Vec<String>,
    /// Verdict of the fair-use rules of the benchmark's owner, if its results are quoted.
    pub fair_use: Option<PackVerdict>,
    /// Every quantity that the author typed.
    pub typed: Vec<TypedQuantity>,
    /// Claims of the post with their outcomes in this archive.
    pub claims: Vec<Claim>,
    /// Location of the runs that the post rests on.
    pub runs_at: RunLocation,
    pub(super) source: String,
    pub(super) markdown: String,
    pub(super) blocks: Vec<PostBlock>,
    pub(super) marks: Marks,
}

/// Location of the runs of a post, as seen from its page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RunLocation {
    /// In files next to the page, named by their ids.
    #[default]
    Beside,
    /// On pages of their own: `PREFIX/ID/index.html`.
    Pages(String),
}

/// A quantity that the author typed: no function printed it, and nothing recomputes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypedQuantity {
    /// The quantity as it is typed.
    pub text: String,
    /// Part of the post: `text`, `cell of a table`, `caption`, `title of a chart`.
    pub place: &'static str,
    /// Line in the template, if it is known.
    pub line: Option<usize>,
    /// Column in that line, in characters.
    pub column: Option<usize>,
    /// Text around the quantity.
    pub sentence: String,
}

/// Descriptive parts of a number, for its footnote and its statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Facts {
    /// System or treatment that the value belongs to.
    pub subject: String,
    /// Other side of a comparison.
    pub baseline: Option<String>,
    /// Metric, with the benchmark if the metric's name lacks it; empty if the names of the sides
    /// contain a metric each.
    pub metric: String,
    /// Denominator by which the values are divided.
    pub denominator: Option<String>,
    /// Verdict of a comparison: `better`, `not clearly different`.
    pub verdict: Option<&'static str>,
    /// Day of a rank, if it is one.
    pub as_of: Option<String>,
}

impl Facts {
    /// Returns metric and denominator: `SPECjbb2005 bops per core`.
    pub(super) fn quantity(&self) -> String {
        let per = self.denominator.as_ref().and_then(|d| d.parse::<Denominator>().ok());
        let per = per.map(|d| Basis::Per(d).to_string()).unwrap_or_default();
        format!("{} {per}", self.metric).trim().to_owned()
    }

    /// Formats subject, baseline, metric and denominator for a footnote.
    pub(super) fn words(&self, unit: &str) -> String {
        let mut out = self.subject.clone();
        if let Some(baseline) = &self.baseline {
            out.extend([" against ", baseline]);
        }
        match self.quantity() {
            of if of.is_empty() => {}
            of => out.extend(["; ", &of]),
        }
        if !matches!(unit, "" | "1" | "score") {
            out.extend([", in ", unit]);
        }
        out
    }
}

/// A number that was computed for a post.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ComputedNumber {
    /// Anchor of the number: `d12`.
    pub anchor: String,
    /// Function that computed the number.
    pub function: String,
    /// Printed text: `5% better`.
    pub text: String,
    /// Value in `unit`, not rounded; `null` if it is withheld or unavailable.
    pub value: Option<f64>,
    /// Unit of the value (`1` for ratios, `%` for percentages).
    pub unit: String,
    /// Kind, as printed with the number: `quoted`, `measured`, `derived from quoted`.
    pub kind: String,
    /// Formula with the numbers in it.
    pub formula: String,
    /// Interval in `unit`; `null` if none is known.
    pub interval: Option<Interval>,
    /// Values that the number was computed from.
    pub inputs: Vec<Input>,
    /// Findings that the number carries: indices into [`Post::findings`].
    pub findings: Vec<usize>,
    /// Reason why the number is not printed; `null` if it is.
    pub withheld: Option<String>,
    /// Reasons why a value behind the number is doubtful, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Line of the template that asks for the number.
    pub line: usize,
    /// Subject, baseline, metric, denominator, verdict and day.
    #[serde(flatten)]
    pub facts: Facts,
    /// Statement as a sentence without the full stop; empty for a number without one.
    #[serde(skip)]
    pub sentence: String,
    /// True if the template asks for the sentence.
    #[serde(skip)]
    pub is_statement: bool,
    /// Both sides of a comparison by every denominator, if their order reverses.
    pub matrix: Option<Matrix>,
    /// The comparison behind a ratio.
    #[serde(skip)]
    pub comparison: Option<ComparisonEvidence>,
    /// Answer as a value for a binding, which judges it exactly.
    #[serde(skip)]
    pub(super) answer: Option<FunctionAnswer>,
    /// True if the number is a cell of a table, which marks kinds by column and line.
    #[serde(skip)]
    pub in_table: bool,
}

/// A value that a number was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Input {
    /// Description of the value.
    pub label: String,
    pub value: f64,
    pub unit: String,
    /// Kind of the value, such as `quoted`.
    pub kind: String,
    /// Id of the quoted result.
    pub result: Option<String>,
    /// Name of the run in the template.
    pub run: Option<String>,
    /// Document or run that has the value.
    pub source: String,
}

/// A finding with the numbers that carry it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PostFinding {
    #[serde(flatten)]
    pub finding: Finding,
    /// Anchors of the numbers; empty for a finding about the post.
    pub numbers: Vec<String>,
    /// Line of the template, if the finding is about a place in it.
    pub line: Option<usize>,
}

/// A quoted result that the post rests on.
#[derive(Debug, Clone)]
pub struct UsedResult {
    pub result: QuotedResult,
    /// Name of the system that tells it from others.
    pub label: String,
    /// The document in words.
    pub source: String,
}

/// A piece of a post on lines of its own.
#[derive(Debug)]
pub(super) enum PostBlock {
    /// Tables and charts with the notes below them.
    Parts(Parts),
    Disclosure,
    Findings,
}

/// Tables of a post with the notes below them.
#[derive(Debug, Default)]
pub(super) struct PostTables {
    pub(super) tables: Vec<Table>,
    /// Sentences below the tables.
    pub(super) notes: Vec<String>,
    /// Findings about the tables: indices into the post's findings.
    pub(super) findings: Vec<usize>,
}

impl From<PostTables> for PostBlock {
    fn from(laid: PostTables) -> Self {
        let mut parts = Parts::default();
        parts.0.extend(
            laid.tables.into_iter().map(DocumentPart::Table).map(|part| (Outputs::All, part)),
        );
        parts.notes(laid.notes);
        if !laid.findings.is_empty() {
            parts.note(text("Findings: ").piece(TextStyle::Marks(laid.findings), ""));
        }
        PostBlock::Parts(parts)
    }
}

/// Creates a cell with a number as its source printed it, linked to the result.
pub(super) fn quoted(words: impl Into<String>, id: &str) -> TableCell {
    cell(Text::default().link(format!("#q-{id}"), words))
}

/// Creates a cell with a computed number, by its index.
pub(super) fn number(at: usize) -> TableCell {
    cell(Text::default().number(at))
}

/// Creates a chart, with its content in sentences for formats without pictures.
pub(super) fn chart(chart: Markup, caption: &str, words: String) -> PostBlock {
    let mut parts = Parts::default();
    let under = Parts::default();
    parts.push(DocumentPart::Figure(Figure { chart, caption: caption.into(), words, under }));
    PostBlock::Parts(parts)
}

impl Post {
    /// Returns the findings that forbid publishing: those of severity *invalid* about the post's
    /// own text, or about a number that is still printed.
    pub fn refusals(&self) -> Vec<&PostFinding> {
        let invalid = |f: &&PostFinding| f.finding.severity == Severity::Invalid;
        self.findings.iter().filter(invalid).filter(|f| self.is_printed(f)).collect()
    }

    /// Returns true if the post has a finding of severity *invalid*. Without refusals, each such
    /// finding has removed a number from the post.
    pub fn withheld_as_invalid(&self) -> bool {
        self.findings.iter().any(|f| f.finding.severity == Severity::Invalid)
    }

    fn is_printed(&self, found: &PostFinding) -> bool {
        let carry = |n: &&ComputedNumber| found.numbers.contains(&n.anchor);
        found.numbers.is_empty() || self.numbers.iter().filter(carry).any(|n| n.withheld.is_none())
    }

    /// Removes the numbers that carry a finding of severity *invalid*; their places state the
    /// reason. Findings about the post's own text stay, because only its author can correct it.
    pub fn withhold(&mut self) {
        let invalid: Vec<(usize, String)> = self
            .findings
            .iter()
            .enumerate()
            .filter(|(_, f)| f.finding.severity == Severity::Invalid)
            .map(|(i, f)| (i, format!("{} {}", f.finding.id, f.finding.message)))
            .collect();
        for n in &mut self.numbers {
            if let Some((_, why)) = invalid.iter().find(|(i, _)| n.findings.contains(i)) {
                n.withhold(why);
            }
        }
    }

    /// Returns the statements that carry the mark of certification.
    pub fn statements(&self) -> impl Iterator<Item = &ComputedNumber> {
        self.numbers.iter().filter(|n| self.is_certified(n))
    }

    /// Returns true for a statement that nothing withholds.
    pub(super) fn is_certified(&self, n: &ComputedNumber) -> bool {
        let invalid = |i: &usize| self.findings[*i].finding.severity == Severity::Invalid;
        n.is_statement && n.withheld.is_none() && !n.findings.iter().any(invalid)
    }

    /// Returns a sentence such as `12 statements certified, 40 numbers computed, 3 typed; the words
    /// are the author's`.
    pub fn banner(&self) -> String {
        format!(
            "{} certified, {} computed, {} typed; the words are the author's",
            count(self.statements().count(), "statement"),
            count(self.numbers.iter().filter(|n| !n.is_statement).count(), "number"),
            self.typed.len()
        )
    }

    /// Returns the document of a quoted result in words.
    pub(super) fn source(&self, id: &str) -> Option<&str> {
        self.results.iter().find(|u| u.result.id == id).map(|u| u.source.as_str())
    }

    /// Returns true if the template places such a block itself.
    pub(super) fn places(&self, block: fn(&PostBlock) -> bool) -> bool {
        self.blocks.iter().any(block)
    }
}

impl ComputedNumber {
    /// Sets the number to a quantity that is printed as `text`.
    pub(super) fn show(&mut self, q: &Quantity, text: String) {
        self.text = text;
        self.value = Some(q.value);
        self.unit.clone_from(&q.unit);
        q.kind_words().clone_into(&mut self.kind);
        self.formula = q.formula();
    }

    /// Marks the number as unavailable; the reason is printed in its place.
    pub(super) fn unsupported(&mut self, why: &str) {
        self.withheld = Some(why.to_owned());
        self.value = None;
        let of = match self.facts.quantity() {
            of if of.is_empty() => of,
            of => format!(" in {of}"),
        };
        let subject = &self.facts.subject;
        self.sentence = match &self.facts.baseline {
            Some(other) => {
                format!("It cannot be stated how {subject} compares with {other}{of}: {why}")
            }
            None => format!("It cannot be stated how {subject} ranks{of}: {why}"),
        };
        self.text = if self.is_statement {
            format!("{}.", self.sentence)
        } else {
            format!("unsupported: {why}")
        };
    }

    pub(super) fn withhold(&mut self, why: &str) {
        self.unsupported(why);
        if !self.is_statement {
            self.text = format!("withheld: {why}");
        }
        (self.interval, self.matrix) = (None, None);
        self.formula.clear();
    }
}

//! What a template becomes: numbers with their derivations, blocks, findings, and the Markdown with
//! places for them.

use std::collections::BTreeMap;

use assay_checks::ComparisonEvidence;
use assay_model::{Finding, Interval, Severity};
use assay_rules::denominator::{Basis, Denominator, Matrix};
use assay_rules::pack::PackVerdict;
use assay_rules::quantity::Quantity;
use assay_rules::quoted::QuotedResult;
use maud::Markup;
use serde::Serialize;

use super::amount::Answer;
use super::answer::Claim;
use super::front::Front;
use super::typed::Marks;
use crate::document::{Cell, Figure, Look, On, Part, Parts, Table, Text, cell, text};
use crate::figures::count;
use crate::view::RunView;

/// A post, ready to be written in any form.
#[derive(Debug)]
pub struct Post {
    /// The template's name.
    pub file: String,
    /// What the template says of itself.
    pub front: Front,
    /// The version of assay that computed it.
    pub assay_version: String,
    /// Every computed number, in the order of the text; the anchor of the first is `d1`.
    pub numbers: Vec<ComputedNumber>,
    /// What was found, about the numbers that carry it (none: about the post).
    pub findings: Vec<PostFinding>,
    /// Every quoted result that the post rests on, by id.
    pub results: Vec<UsedResult>,
    /// The runs that the post rests on, by the template's names for them.
    pub runs: BTreeMap<String, RunView>,
    /// Trademark notes.
    pub trademarks: Vec<String>,
    /// What the rules of the benchmark's owner say, where its results are quoted.
    pub fair_use: Option<PackVerdict>,
    /// Every quantity that its author typed.
    pub typed: Vec<TypedQuantity>,
    /// What the post claims, and what the runs of this archive say of it.
    pub claims: Vec<Claim>,
    /// Where the runs are that it rests on.
    pub runs_at: RunLocation,
    pub(super) source: String,
    pub(super) markdown: String,
    pub(super) blocks: Vec<Block>,
    pub(super) marks: Marks,
}

/// Where the runs of a post are, as seen from its page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RunLocation {
    /// In files beside it, named by their ids.
    #[default]
    Beside,
    /// On pages of their own: `PREFIX/ID/index.html`.
    Pages(String),
}

/// A quantity that the author typed: no function printed it, and nothing recomputes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypedQuantity {
    /// As it is typed.
    pub text: String,
    /// The part of the post: `text`, `cell of a table`, `caption`, `title of a chart`.
    pub place: &'static str,
    /// Its line in the template, where that is known.
    pub line: Option<usize>,
    /// Its column there, in characters.
    pub column: Option<usize>,
    /// The words around it.
    pub sentence: String,
}

/// The words of a number that its footnote and its statement name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Facts {
    /// The system or treatment that it is a value of.
    pub subject: String,
    /// The other side of a comparison.
    pub baseline: Option<String>,
    /// The metric, with the benchmark where its name lacks that; empty where the sides have one each, in their names.
    pub metric: String,
    /// Denominator by which the values are divided.
    pub denominator: Option<String>,
    /// The verdict of a comparison: `better`, `not clearly different`.
    pub verdict: Option<&'static str>,
    /// The day of a rank.
    pub as_of: Option<String>,
}

impl Facts {
    /// `SPECjbb2005 bops per core`.
    pub(super) fn quantity(&self) -> String {
        let per = self.denominator.as_ref().and_then(|d| d.parse::<Denominator>().ok());
        let per = per.map(|d| Basis::Per(d).to_string()).unwrap_or_default();
        format!("{} {per}", self.metric).trim().to_owned()
    }

    /// Subject, baseline, metric and denominator, for a footnote.
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
    /// Its anchor: `d12`.
    pub anchor: String,
    /// The function that made it.
    pub function: String,
    /// What is printed: `5% better`.
    pub text: String,
    /// The number, not rounded, in `unit`; `null` where it is withheld or cannot be had.
    pub value: Option<f64>,
    /// Its unit (`1` for ratios, `%` for percentages).
    pub unit: String,
    /// Its kind as it stands beside it: `quoted`, `measured`, `derived from quoted`.
    pub kind: String,
    /// How it was computed, with the numbers in it.
    pub formula: String,
    /// Its interval, in `unit`; `null` where none is known.
    pub interval: Option<Interval>,
    /// What it was computed from.
    pub inputs: Vec<Input>,
    /// Which findings it carries: indices into [`Post::findings`].
    pub findings: Vec<usize>,
    /// Why it is not printed; `null` if it is.
    pub withheld: Option<String>,
    /// What makes a value behind it doubtful, each reason once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The line of the template that asks for it.
    pub line: usize,
    /// Subject, baseline, metric, denominator, verdict and day.
    #[serde(flatten)]
    pub facts: Facts,
    /// The statement, as a sentence without the full stop; empty where there is none.
    #[serde(skip)]
    pub sentence: String,
    /// True if the template asks for the sentence.
    #[serde(skip)]
    pub is_statement: bool,
    /// Both sides of a comparison by every denominator, where their order turns round.
    pub matrix: Option<Matrix>,
    /// What it compares, where that is a ratio.
    #[serde(skip)]
    pub comparison: Option<ComparisonEvidence>,
    /// The answer as a value for a binding, which judges it exactly.
    #[serde(skip)]
    pub(super) answer: Option<Answer>,
    /// Whether it is a cell of a table (tables mark kinds by column and line).
    #[serde(skip)]
    pub in_table: bool,
}

/// A value that a number was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Input {
    /// What it is.
    pub label: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Its kind.
    pub kind: String,
    /// The quoted result's id.
    pub result: Option<String>,
    /// The template's name for the run.
    pub run: Option<String>,
    /// The document or the run.
    pub source: String,
}

/// A finding with the numbers that carry it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PostFinding {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// The anchors of the numbers; empty: it is about the post.
    pub numbers: Vec<String>,
    /// The line of the template, where it is about a place in it.
    pub line: Option<usize>,
}

/// A quoted result that the post rests on.
#[derive(Debug, Clone)]
pub struct UsedResult {
    /// The result.
    pub result: QuotedResult,
    /// Its system in words that tell it from others.
    pub label: String,
    /// The document, in words.
    pub source: String,
}

/// A piece of a post that stands on lines of its own.
#[derive(Debug)]
pub(super) enum Block {
    /// Tables and charts with what stands under them.
    Parts(Parts),
    Disclosure,
    Findings,
}

/// Tables of a post and what stands under them.
#[derive(Debug, Default)]
pub(super) struct Laid {
    pub(super) tables: Vec<Table>,
    /// Sentences under it.
    pub(super) notes: Vec<String>,
    /// Findings about it: indices into the post's.
    pub(super) findings: Vec<usize>,
}

impl From<Laid> for Block {
    fn from(laid: Laid) -> Self {
        let mut parts = Parts::default();
        parts.0.extend(laid.tables.into_iter().map(Part::Table).map(|part| (On::All, part)));
        parts.notes(laid.notes);
        if !laid.findings.is_empty() {
            parts.note(text("Findings: ").piece(Look::Marks(laid.findings), ""));
        }
        Block::Parts(parts)
    }
}

/// A number as its source printed it, which leads to the result.
pub(super) fn quoted(words: impl Into<String>, id: &str) -> Cell {
    cell(Text::default().link(format!("#q-{id}"), words))
}

/// A computed number, by its position.
pub(super) fn number(at: usize) -> Cell {
    cell(Text::default().number(at))
}

/// A chart, and what it shows in sentences for forms without pictures.
pub(super) fn chart(chart: Markup, caption: &str, words: String) -> Block {
    let mut parts = Parts::default();
    let under = Parts::default();
    parts.push(Part::Figure(Figure { chart, caption: caption.into(), words, under }));
    Block::Parts(parts)
}

impl Post {
    /// What keeps it from being published: every finding of severity *invalid* about the post's words,
    /// or about a number that is still printed.
    pub fn refusals(&self) -> Vec<&PostFinding> {
        let invalid = |f: &&PostFinding| f.finding.severity == Severity::Invalid;
        self.findings.iter().filter(invalid).filter(|f| self.is_printed(f)).collect()
    }

    /// Whether a finding of severity *invalid* took a number out of the post.
    pub fn withheld_as_invalid(&self) -> bool {
        self.findings.iter().any(|f| f.finding.severity == Severity::Invalid)
    }

    fn is_printed(&self, found: &PostFinding) -> bool {
        let carry = |n: &&ComputedNumber| found.numbers.contains(&n.anchor);
        found.numbers.is_empty() || self.numbers.iter().filter(carry).any(|n| n.withheld.is_none())
    }

    /// Takes the numbers that carry a finding of severity *invalid* out of the post; their places say
    /// why. Findings about the post's own words stay: only its author can mend those.
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

    /// The statements that carry the mark of certification.
    pub fn statements(&self) -> impl Iterator<Item = &ComputedNumber> {
        self.numbers.iter().filter(|n| self.is_certified(n))
    }

    /// True for a statement that nothing withholds.
    pub(super) fn is_certified(&self, n: &ComputedNumber) -> bool {
        let invalid = |i: &usize| self.findings[*i].finding.severity == Severity::Invalid;
        n.is_statement && n.withheld.is_none() && !n.findings.iter().any(invalid)
    }

    /// `12 statements certified, 40 numbers computed, 3 typed; the words are the author's`.
    pub fn banner(&self) -> String {
        format!(
            "{} certified, {} computed, {} typed; the words are the author's",
            count(self.statements().count(), "statement"),
            count(self.numbers.iter().filter(|n| !n.is_statement).count(), "number"),
            self.typed.len()
        )
    }

    /// The document of a quoted result in words.
    pub(super) fn source(&self, id: &str) -> Option<&str> {
        self.results.iter().find(|u| u.result.id == id).map(|u| u.source.as_str())
    }

    /// Whether the template places a block itself.
    pub(super) fn places(&self, block: fn(&Block) -> bool) -> bool {
        self.blocks.iter().any(block)
    }

    /// Whether numbers of more than one origin (quoted, measured) stand in it.
    pub(super) fn mixed(&self) -> bool {
        !self.results.is_empty() && !self.runs.is_empty()
    }
}

impl ComputedNumber {
    /// Prints a quantity as `text`.
    pub(super) fn show(&mut self, q: &Quantity, text: String) {
        self.text = text;
        self.value = Some(q.value);
        self.unit.clone_from(&q.unit);
        q.kind_words().clone_into(&mut self.kind);
        self.formula = q.formula();
    }

    /// Makes it a number that cannot be had, with the reason in its place.
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
            None => format!("It cannot be stated where {subject} stands{of}: {why}"),
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

//! What a template becomes: numbers with their derivations, blocks, findings, and the Markdown with
//! places for them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_checks::ComparisonEvidence;
use assay_model::{Finding, Interval, Severity};
use assay_rules::denominator::Matrix;
use assay_rules::pack::PackVerdict;
use assay_rules::quoted::QuotedResult;
use maud::Markup;
use serde::Serialize;

use super::answer::Claim;
use super::front::Front;
use super::typed::Marks;
use crate::document::{Cell, Figure, Look, On, Part, Parts, Table, Text, cell, text};
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
    /// Every comparison in the author's words.
    pub comparisons: Vec<TypedComparison>,
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
    /// What it stands in: `text`, `cell of a table`, `caption`, `title of a chart`.
    pub place: &'static str,
    /// Its line in the template, where that is known.
    pub line: Option<usize>,
    /// Its column there, in characters.
    pub column: Option<usize>,
    /// The sentence around it.
    pub sentence: String,
}

/// A comparison in the author's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypedComparison {
    /// The words that compare: `ahead of`.
    pub text: String,
    /// Their line in the template, where that is known.
    pub line: Option<usize>,
    /// Their column there, in characters.
    pub column: Option<usize>,
    /// The sentence around them.
    pub sentence: String,
    /// The results that agree; `null` where none decides it.
    pub checked: Option<String>,
    /// Why none does; empty where one does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unchecked: String,
}

/// `line 7, column 12`.
fn whereabouts(line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("line {line}, column {column}"),
        (Some(line), None) => format!("line {line}"),
        _ => "front matter".to_owned(),
    }
}

impl TypedQuantity {
    pub(super) fn new(
        text: String,
        place: &'static str,
        at: Option<(usize, usize)>,
        sentence: String,
    ) -> Self {
        TypedQuantity { text, place, line: at.map(|a| a.0), column: at.map(|a| a.1), sentence }
    }

    pub(super) fn whereabouts(&self) -> String {
        whereabouts(self.line, self.column)
    }
}

impl TypedComparison {
    pub(super) fn new(text: String, at: Option<(usize, usize)>, sentence: String) -> Self {
        let (line, column) = (at.map(|a| a.0), at.map(|a| a.1));
        TypedComparison { text, line, column, sentence, checked: None, unchecked: String::new() }
    }

    pub(super) fn whereabouts(&self) -> String {
        whereabouts(self.line, self.column)
    }
}

/// A number that was computed for a post.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Both sides of a comparison by every denominator, where their order turns round.
    pub matrix: Option<Matrix>,
    /// What it compares, where that is a ratio.
    #[serde(skip)]
    pub comparison: Option<ComparisonEvidence>,
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

    /// How many numbers were computed, and what was typed: `112 numbers computed, 3 typed by the author (†)`.
    pub fn banner(&self) -> String {
        let many =
            |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        let mut out = format!(
            "{} computed, {} typed by the author",
            many(self.numbers.len(), "number", "numbers"),
            self.typed.len()
        );
        let checked = self.comparisons.iter().filter(|c| c.checked.is_some()).count();
        let open = self.comparisons.len() - checked;
        for (n, what) in [(checked, "checked"), (open, "not checked")] {
            if n > 0 {
                let _ = write!(out, ", {} in words {what}", many(n, "comparison", "comparisons"));
            }
        }
        if open + self.typed.len() > 0 {
            out += " (marked †)";
        }
        out + "."
    }

    /// Whether a place has a dagger: all that was typed, but for comparisons that were checked.
    pub(super) fn has_dagger(&self, what: &str) -> bool {
        let at = what.strip_prefix('c').and_then(|n| n.parse::<usize>().ok());
        at.and_then(|at| self.comparisons.get(at)).is_none_or(|c| c.checked.is_none())
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
    /// Whether it says how two results stand to each other.
    pub(super) fn compares(&self) -> bool {
        matches!(
            self.function.as_str(),
            "better" | "times" | "speedup" | "less_time" | "difference" | "rank"
        )
    }

    pub(super) fn withhold(&mut self, why: &str) {
        self.text = format!("withheld: {why}");
        self.withheld = Some(why.to_owned());
        (self.value, self.interval, self.matrix) = (None, None, None);
        self.formula.clear();
    }
}

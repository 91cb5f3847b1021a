//! The state of an evaluation: what a post has so far, and what was asked of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use assay_claims::{CurrentRow, Table};
use assay_model::Finding;

use super::amount::{Amount, Answer};
use super::answer::Claim;
use super::document::{Block, ComputedNumber, Input, PostFinding, TypedQuantity};
use super::error::Text;
use super::front::Front;
use super::library::Library;
use super::normal::{Map, template_byte};
use super::typed::Exempt;
use crate::gate::Gate;
use crate::view::RunView;

/// What a call makes.
pub(super) enum Made {
    /// A number in a sentence: an index into the post's.
    Number(usize),
    /// Something on lines of its own.
    Block(Block),
    /// A value for another function.
    Amount(Box<Amount>),
    /// The values of a column, in bindings.
    List(Vec<Amount>),
    /// Another answer of a binding, with the values that it rests on.
    Answer(Box<Answer>, Vec<Input>),
}

/// Data of a binding besides quoted results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding<'a> {
    /// The tables of the text.
    pub(super) tables: &'a [Table],
    /// The row that `this` means.
    pub(super) row: Option<CurrentRow<'a>>,
}

/// The state of an evaluation.
pub(super) struct Evaluator<'a> {
    pub(super) text: Text<'a>,
    pub(super) front: &'a Front,
    pub(super) library: &'a Library,
    pub(super) runs: &'a BTreeMap<String, RunView>,
    pub(super) gates: BTreeMap<String, Gate>,
    /// Set where the expression is that of a binding.
    pub(super) binding: Option<Binding<'a>>,
    /// Values of the calls inside a call that is mapped over rows, by their first byte.
    pub(super) operands: BTreeMap<usize, Vec<Amount>>,
    /// The current row of such a call.
    pub(super) row: usize,
    pub(super) numbers: Vec<ComputedNumber>,
    pub(super) blocks: Vec<Block>,
    pub(super) findings: Vec<PostFinding>,
    /// The quoted results that were used.
    pub(super) used: BTreeSet<usize>,
    /// The runs that were used.
    pub(super) used_runs: BTreeSet<String>,
    /// The treatments of which a result is shown, by the alias of their run.
    pub(super) shown: BTreeMap<String, BTreeSet<u32>>,
    /// Trademark notes that results brought with them.
    pub(super) trademarks: Vec<String>,
    /// Names and days of the data.
    pub(super) exempt: Exempt,
    /// What a person typed.
    pub(super) typed: Vec<TypedQuantity>,
    /// The calls whose numbers stand in the text, by the numbers.
    pub(super) placed: BTreeMap<usize, Range<usize>>,
    pub(super) map: Map,
    /// The byte of the template that was placed last, with its line and column.
    pub(super) cursor: (usize, (usize, usize)),
    /// The claims, with what became of them.
    pub(super) claims: Vec<Claim>,
}

impl<'a> Evaluator<'a> {
    /// Starts an evaluation.
    pub(super) fn new(
        text: Text<'a>,
        front: &'a Front,
        library: &'a Library,
        runs: &'a BTreeMap<String, RunView>,
        exempt: Exempt,
    ) -> Self {
        let gates = runs.iter().map(|(alias, view)| (alias.clone(), Gate::of(view))).collect();
        Evaluator {
            text,
            front,
            library,
            runs,
            gates,
            binding: None,
            operands: BTreeMap::new(),
            row: 0,
            numbers: Vec::new(),
            blocks: Vec::new(),
            findings: Vec::new(),
            used: BTreeSet::new(),
            used_runs: BTreeSet::new(),
            shown: BTreeMap::new(),
            trademarks: Vec::new(),
            exempt,
            typed: Vec::new(),
            placed: BTreeMap::new(),
            map: Vec::new(),
            cursor: (0, (1, 1)),
            claims: Vec::new(),
        }
    }

    /// Keeps a number; the findings are about it.
    pub(super) fn number(&mut self, mut number: ComputedNumber, findings: Vec<Finding>) -> usize {
        let at = self.numbers.len();
        number.anchor = format!("d{}", at + 1);
        // Findings stand on the page of a post, which a binding has not.
        let on_page = self.binding.is_none();
        for finding in findings.into_iter().filter(|_| on_page) {
            let index = self.find(finding, Some(number.line));
            self.findings[index].numbers.push(number.anchor.clone());
            number.findings.push(index);
        }
        self.numbers.push(number);
        at
    }

    /// Keeps a finding once; its index.
    pub(super) fn find(&mut self, finding: Finding, line: Option<usize>) -> usize {
        if let Some(at) = self.findings.iter().position(|f| f.finding == finding) {
            return at;
        }
        self.findings.push(PostFinding { finding, numbers: Vec::new(), line });
        self.findings.len() - 1
    }

    /// The byte of the template of a byte of the Markdown.
    pub(super) fn template_byte(&self, markdown: usize) -> usize {
        template_byte(&self.map, markdown)
    }

    /// Keeps a trademark note once.
    pub(super) fn trademark(&mut self, note: &str) {
        if !note.trim().is_empty() && !self.trademarks.iter().any(|t| t == note) {
            self.trademarks.push(note.to_owned());
        }
    }
}

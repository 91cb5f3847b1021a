//! The state of an evaluation: the content of the post so far.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use assay_claims::{CurrentRow, Table};
use assay_model::Finding;

use super::amount::{Amount, FunctionAnswer};
use super::answer::Claim;
use super::document::{ComputedNumber, Input, PostBlock, PostFinding, TypedQuantity};
use super::error::TemplateText;
use super::front::FrontMatter;
use super::library::Library;
use super::normal::{Map, template_byte};
use super::typed::ExemptWords;
use assay_report::{Gate, RunView};

/// The result of a call.
pub(super) enum CallResult {
    /// A number in a sentence: an index into the post's numbers.
    Number(usize),
    /// A block on lines of its own.
    Block(PostBlock),
    /// A value that another function takes.
    Amount(Box<Amount>),
    /// The values of a column, in bindings.
    List(Vec<Amount>),
    /// Another answer of a binding, with the values that it rests on.
    Answer(Box<FunctionAnswer>, Vec<Input>),
}

impl From<Amount> for CallResult {
    fn from(amount: Amount) -> Self {
        CallResult::Amount(Box::new(amount))
    }
}

/// Data of a binding besides quoted results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding<'a> {
    /// Tables of the text.
    pub(super) tables: &'a [Table],
    /// Row that `this` refers to.
    pub(super) row: Option<CurrentRow<'a>>,
}

/// The state of an evaluation.
pub(super) struct Evaluator<'a> {
    pub(super) text: TemplateText<'a>,
    pub(super) front: &'a FrontMatter,
    pub(super) library: &'a Library,
    pub(super) runs: &'a BTreeMap<String, RunView>,
    pub(super) gates: BTreeMap<String, Gate>,
    /// Set if the expression is that of a binding.
    pub(super) binding: Option<Binding<'a>>,
    /// Values of the calls inside a call that is mapped over rows, by their first byte.
    pub(super) operands: BTreeMap<usize, Vec<Amount>>,
    /// Current row of such a call.
    pub(super) row: usize,
    pub(super) numbers: Vec<ComputedNumber>,
    pub(super) blocks: Vec<PostBlock>,
    pub(super) findings: Vec<PostFinding>,
    /// Indices of the quoted results that were used.
    pub(super) used: BTreeSet<usize>,
    /// Names of the runs that were used.
    pub(super) used_runs: BTreeSet<String>,
    /// Treatments of which a result is shown, by the alias of their run.
    pub(super) shown: BTreeMap<String, BTreeSet<u32>>,
    /// Trademark notes of the results that were used.
    pub(super) trademarks: Vec<String>,
    /// Names and days of the data, which may be typed.
    pub(super) exempt: ExemptWords,
    /// Quantities that the author typed.
    pub(super) typed: Vec<TypedQuantity>,
    /// Calls whose numbers are in the text, by the index of the number.
    pub(super) placed: BTreeMap<usize, Range<usize>>,
    pub(super) map: Map,
    /// Byte of the template that was located last, with its line and column.
    pub(super) cursor: (usize, (usize, usize)),
    /// Claims with their outcomes.
    pub(super) claims: Vec<Claim>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        text: TemplateText<'a>,
        front: &'a FrontMatter,
        library: &'a Library,
        runs: &'a BTreeMap<String, RunView>,
        exempt: ExemptWords,
    ) -> Self {
        let gates =
            runs.iter().map(|(alias, view)| (alias.clone(), Gate::from_view(view))).collect();
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

    /// Adds a number and the findings about it; returns the number's index.
    pub(super) fn number(&mut self, mut number: ComputedNumber, findings: Vec<Finding>) -> usize {
        let at = self.numbers.len();
        number.anchor = format!("d{}", at + 1);
        // Findings are shown on the page of a post, and a binding has no page.
        let on_page = self.binding.is_none();
        for finding in findings.into_iter().filter(|_| on_page) {
            let index = self.find(finding, Some(number.line));
            self.findings[index].numbers.push(number.anchor.clone());
            number.findings.push(index);
        }
        self.numbers.push(number);
        at
    }

    /// Adds a finding unless it is there already; returns its index.
    pub(super) fn find(&mut self, finding: Finding, line: Option<usize>) -> usize {
        if let Some(at) = self.findings.iter().position(|f| f.finding == finding) {
            return at;
        }
        self.findings.push(PostFinding { finding, numbers: Vec::new(), line });
        self.findings.len() - 1
    }

    /// Returns the byte of the template for a byte of the Markdown.
    pub(super) fn template_byte(&self, markdown: usize) -> usize {
        template_byte(&self.map, markdown)
    }

    /// Adds a trademark note unless it is there already.
    pub(super) fn trademark(&mut self, note: &str) {
        if !note.trim().is_empty() && !self.trademarks.iter().any(|t| t == note) {
            self.trademarks.push(note.to_owned());
        }
    }
}

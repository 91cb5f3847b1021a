//! Evaluates a template: pieces become Markdown with places for numbers and blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use assay_model::Finding;

use super::arguments::Arguments;
use super::claim::Claim;
use super::document::{
    Block, ComputedNumber, Post, PostFinding, TypedComparison, TypedQuantity, UsedResult,
};
use super::error::{PostError, Text, meant};
use super::expression::Call;
use super::front::Front;
use super::functions::{FUNCTIONS, Made};
use super::library::Library;
use super::read::{CLOSE, OPEN};
use super::template::{Piece, Section, parse};
use super::typed::{Marks, Names};
use super::{checks, fair_use, front, held, prose};
use crate::gate::Gate;
use crate::view::RunView;

/// A template that was read: what it says of itself, and its pieces.
#[derive(Debug)]
pub struct Template {
    pub(super) name: String,
    pub(super) text: String,
    front: Front,
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads a template. `name` is its name for messages.
    ///
    /// # Errors
    /// A mistake in the front matter or in the language of templates, with its place.
    pub fn read(name: &str, text: String) -> Result<Self, PostError> {
        let source = Text { name, text: &text };
        let (front, body) = front::read(source)?;
        let pieces = parse(source, body)?;
        Ok(Template { name: name.to_owned(), front, pieces, text })
    }

    /// What it says of itself.
    pub fn front(&self) -> &Front {
        &self.front
    }

    /// The runs that each claim needs, by the template's names for them; a claim that cannot be asked here needs
    /// none.
    pub fn claims(&self) -> Vec<Vec<String>> {
        super::claim::runs(&self.pieces)
    }

    /// Computes the post. `runs` holds those runs of the front matter that the archive has; `today` is the day on
    /// which it is published (`2026-01-02`).
    ///
    /// # Errors
    /// A call names what is not there, or compares what has no ratio; a template that names no
    /// result at all.
    pub fn evaluate(
        &self,
        library: &Library,
        runs: &BTreeMap<String, RunView>,
        assay_version: &str,
        today: &str,
    ) -> Result<Post, PostError> {
        let text = Text { name: &self.name, text: &self.text };
        let gates = runs.iter().map(|(alias, view)| (alias.clone(), Gate::of(view))).collect();
        let mut evaluator = Evaluator {
            text,
            front: &self.front,
            library,
            runs,
            gates,
            numbers: Vec::new(),
            blocks: Vec::new(),
            findings: Vec::new(),
            used: BTreeSet::new(),
            used_runs: BTreeSet::new(),
            shown: BTreeMap::new(),
            trademarks: Vec::new(),
            names: held::names(&self.front, library, runs),
            typed: Vec::new(),
            comparisons: Vec::new(),
            map: Vec::new(),
            cursor: (0, (1, 1)),
            refused: 0,
            claims: Vec::new(),
        };
        let mut markdown = String::new();
        evaluator.pieces(&self.pieces, &mut markdown)?;
        if evaluator.used.is_empty() && evaluator.used_runs.is_empty() && self.front.runs.is_empty()
        {
            return Err(text.whole(
                "the template names no result",
                "a post is made of results: name one, as in `{{ value(\"t5240-1.6\") }}`, or a run in the front matter",
            ));
        }
        evaluator.not_in_the_future(today)?;
        let front = evaluator.front_words();
        let marks = prose::check(&mut evaluator, &markdown);
        checks::post(&mut evaluator);
        let fair_use = fair_use::check(&mut evaluator);
        let mut post = evaluator.post(markdown, assay_version);
        (post.front, post.marks) = (front, marks);
        post.fair_use = fair_use;
        Ok(post)
    }
}

/// The state of an evaluation.
pub(super) struct Evaluator<'a> {
    pub(super) text: Text<'a>,
    pub(super) front: &'a Front,
    pub(super) library: &'a Library,
    pub(super) runs: &'a BTreeMap<String, RunView>,
    pub(super) gates: BTreeMap<String, Gate>,
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
    pub(super) names: Names,
    /// What a person typed.
    pub(super) typed: Vec<TypedQuantity>,
    /// The comparisons in words.
    pub(super) comparisons: Vec<TypedComparison>,
    /// Offsets in the Markdown, with the bytes of the template that stand there.
    pub(super) map: Vec<(usize, usize)>,
    /// The byte of the template that was placed last, with its line and column.
    pub(super) cursor: (usize, (usize, usize)),
    /// How many typed quantities were refused.
    pub(super) refused: usize,
    /// The claims, with what became of them.
    pub(super) claims: Vec<Claim>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn pieces(
        &mut self,
        pieces: &'a [Piece],
        out: &mut String,
    ) -> Result<(), PostError> {
        for piece in pieces {
            match piece {
                Piece::Markdown(span) => {
                    self.map.push((out.len(), span.start));
                    out.push_str(&self.text.text[span.clone()]);
                }
                Piece::Call(call) => self.place(call, out)?,
                Piece::Run(section) => self.section(section, out)?,
                Piece::Claim(claim) => self.claim(claim, out)?,
            }
        }
        Ok(())
    }

    fn section(&mut self, section: &'a Section, out: &mut String) -> Result<(), PostError> {
        let Some(spec) = self.front.runs.get(&section.alias) else {
            let known: Vec<&str> = self.front.runs.keys().map(String::as_str).collect();
            let message = format!("the front matter names no run `{}`", section.alias);
            return Err(self.text.error(
                section.alias_span.clone(),
                message,
                meant(&section.alias, &known),
            ));
        };
        if self.runs.contains_key(&section.alias) {
            self.used_runs.insert(section.alias.clone());
            self.pieces(&section.then, out)?;
        } else if let Some(otherwise) = &section.otherwise {
            self.pieces(otherwise, out)?;
        } else {
            let file = &spec.experiment;
            let _ = writeln!(
                out,
                "*No run of `{file}` is in this archive. To make one:* `assay run {file}`"
            );
        }
        Ok(())
    }

    /// Makes what a call asks for, and leaves its place in the Markdown.
    fn place(&mut self, call: &'a Call, out: &mut String) -> Result<(), PostError> {
        let made = self.call(call)?;
        let made = match made {
            Made::Amount(amount) => super::functions::print(self, call, &amount),
            other => other,
        };
        match made {
            Made::Number(at) => {
                self.map.push((out.len(), call.span.start));
                let _ = write!(out, "{OPEN}n{at}{CLOSE}");
            }
            Made::Block(block) => {
                self.alone(call)?;
                self.map.push((out.len(), call.span.start));
                self.blocks.push(block);
                let _ = write!(out, "\n{OPEN}b{}{CLOSE}\n", self.blocks.len() - 1);
            }
            Made::Amount(_) => {}
        }
        Ok(())
    }

    /// A block stands on a line of its own.
    fn alone(&self, call: &Call) -> Result<(), PostError> {
        let text = self.text.text;
        let before = text[..call.span.start].rsplit('\n').next().unwrap_or("");
        let after = text[call.span.end..].split('\n').next().unwrap_or("");
        if before.trim() == "{{" && after.trim() == "}}" {
            return Ok(());
        }
        let message = format!("`{}` stands on a line of its own", call.name);
        Err(self.text.error(call.span.clone(), message, "move it out of the sentence"))
    }

    /// What a call makes.
    pub(super) fn call(&mut self, call: &'a Call) -> Result<Made, PostError> {
        let Some(function) = FUNCTIONS.iter().find(|f| f.signature.name == call.name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|f| f.signature.name).collect();
            let message = format!("there is no function `{}`", call.name);
            return Err(self.text.error(
                call.name_span.clone(),
                message,
                meant(&call.name, &known),
            ));
        };
        let arguments = Arguments::bind(self.text, call, function.signature)?;
        (function.make)(self, &arguments)
    }

    /// Keeps a number; the findings are about it.
    pub(super) fn number(&mut self, mut number: ComputedNumber, findings: Vec<Finding>) -> usize {
        let at = self.numbers.len();
        number.anchor = format!("d{}", at + 1);
        for finding in findings {
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

    /// Keeps a trademark note once.
    pub(super) fn trademark(&mut self, note: &str) {
        if !note.trim().is_empty() && !self.trademarks.iter().any(|t| t == note) {
            self.trademarks.push(note.to_owned());
        }
    }

    fn post(self, markdown: String, assay_version: &str) -> Post {
        let results = self
            .used
            .iter()
            .map(|at| {
                let result = self.library.result(*at).clone();
                let source = source_words(self.library, &result.source);
                let own = format!(" [{}]", result.id);
                let label = self.library.label(*at).replace(&own, "");
                UsedResult { result, label, source }
            })
            .collect();
        let runs = self
            .used_runs
            .iter()
            .filter_map(|alias| Some((alias.clone(), self.runs.get(alias)?.clone())))
            .collect();
        let mut trademarks = self.trademarks;
        trademarks.extend(self.front.trademarks.iter().cloned());
        Post {
            file: self.text.name.to_owned(),
            front: self.front.clone(),
            assay_version: assay_version.to_owned(),
            numbers: self.numbers,
            findings: self.findings,
            results,
            runs,
            trademarks,
            fair_use: None,
            typed: self.typed,
            comparisons: self.comparisons,
            claims: self.claims,
            source: self.text.text.to_owned(),
            markdown,
            blocks: self.blocks,
            marks: Marks::default(),
        }
    }
}

/// A document in words: `BestPerf, 2009-08-27: SPECjbb2005 on the ...`.
pub(super) fn source_words(library: &Library, key: &str) -> String {
    library.source(key).map_or_else(
        || if key.is_empty() { "source not recorded".to_owned() } else { key.to_owned() },
        |s| format!("{}, {}: {}", s.site, s.date, s.subject),
    )
}

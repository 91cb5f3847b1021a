//! Evaluates a template: its pieces become Markdown with places for numbers and blocks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_quoted::quoted::is_date;
use pulldown_cmark::Event;

use super::document::{Post, RunLocation, UsedResult};
use super::error::{Result, TemplateText};
use super::evaluator::{CallResult, Evaluator};
use super::expression::Call;
use super::front::FrontMatter;
use super::library::Library;
use super::normal::normal;
use super::read::MarkdownPlace;
use super::template::{ConditionalSection, Piece, parse};
use super::typed::{ExemptWords, Marks, events, stretches};
use super::{checks, fair_use, front, placement, seal};
use assay_report::RunView;

/// Largest number of computed numbers in a post: each has a derivation on its page.
const MAX_NUMBERS: usize = 10_000;

/// A parsed template: its front matter and its pieces.
#[derive(Debug)]
pub struct Template {
    pub(super) name: String,
    pub(super) text: String,
    front: FrontMatter,
    pieces: Vec<Piece>,
}

impl Template {
    /// Parses a template; `name` is its name in messages.
    ///
    /// # Errors
    /// Fails if the front matter or the language of the template has an error; the error has its
    /// place.
    pub fn read(name: &str, text: String) -> Result<Self> {
        let source = TemplateText { name, text: &text };
        let (front, body) = front::read(source)?;
        seal::template(source, &front)?;
        let pieces = parse(source, body)?;
        Ok(Template { name: name.to_owned(), front, pieces, text })
    }

    pub fn front(&self) -> &FrontMatter {
        &self.front
    }

    /// Returns the runs that each claim needs, by the template's names for them; none for a claim
    /// that cannot be asked here.
    pub fn claims(&self) -> Vec<Vec<String>> {
        super::claim::runs(&self.pieces)
    }

    /// Computes the post. `runs` holds those runs of the front matter that the archive has; `today`
    /// is the day of publication (`2026-01-02`).
    ///
    /// # Errors
    /// Fails if a call names something that does not exist or compares values that have no ratio,
    /// or if the template names no result at all.
    pub fn evaluate(
        &self,
        library: &Library,
        runs: &BTreeMap<String, RunView>,
        assay_version: &str,
        today: &str,
    ) -> Result<Post> {
        let text = TemplateText { name: &self.name, text: &self.text };
        let exempt = ExemptWords::new(&self.front, library, runs);
        let mut evaluator = Evaluator::new(text, &self.front, library, runs, exempt);
        let mut markdown = String::new();
        evaluator.pieces(&self.pieces, &mut markdown)?;
        if evaluator.used.is_empty() && evaluator.used_runs.is_empty() && self.front.runs.is_empty()
        {
            return Err(text.whole(
                "the template names no result",
                "a post needs a result: name one, as in `{{ value(\"t5240-1.6\") }}`, or a run in \
                the front matter",
            ));
        }
        evaluator.not_in_the_future(today)?;
        let Some(markdown) = normal(markdown, &mut evaluator.map) else {
            return Err(text.whole("links, images and HTML are nested too deeply", ""));
        };
        let front = evaluator.front_words();
        let marks = evaluator.read(&markdown)?;
        checks::post(&mut evaluator);
        let fair_use = fair_use::check(&mut evaluator);
        let mut post = evaluator.post(markdown, assay_version);
        post.trademarks.extend(front.trademarks.iter().cloned());
        (post.front, post.marks) = (front, marks);
        post.fair_use = fair_use;
        Ok(post)
    }
}

impl<'a> Evaluator<'a> {
    /// Checks the rendered text, and records the quantities that were typed in it.
    fn read(&mut self, markdown: &str) -> Result<Marks> {
        let events = events(markdown);
        for (event, source) in &events {
            if let Event::Text(shown) | Event::Code(shown) = event {
                let at = || self.template_byte(source.start);
                seal::rendered(self.text, shown, &markdown[source.clone()], at)?;
            }
        }
        let stretches = stretches(&events);
        placement::check(self, &stretches)?;
        self.typed(&stretches)
    }

    /// Rejects days in the future and days after the results were retrieved, about which nothing is
    /// known.
    fn not_in_the_future(&self, today: &str) -> Result<()> {
        for (key, day) in [("retrieved", &self.front.retrieved), ("as_of", &self.front.as_of)] {
            if let Some(day) = day.as_deref().filter(|day| *day > today) {
                let message = format!("`{key}` {day} lies in the future: today is {today}");
                let help = "write a day that has come";
                return Err(self.text.error(self.text.key(key), message, help));
            }
        }
        let Some(day) = self.front.as_of.as_deref().filter(|_| !self.used.is_empty()) else {
            return Ok(());
        };
        let dates = self.library.collection.sources().map(|s| s.date.as_str());
        let rows =
            (0..self.library.len()).filter_map(|at| self.library.result(at).as_of_date.as_deref());
        let newest = dates.chain(rows).filter(|d| is_date(d)).max();
        let (limit, what) = match (self.front.retrieved.as_deref(), newest) {
            (Some(retrieved), _) => (retrieved, "the day that the results were retrieved on"),
            (None, Some(newest)) => (newest, "the newest day of the quoted results"),
            (None, None) => return Ok(()),
        };
        if day <= limit {
            return Ok(());
        }
        let message = format!("`as_of` {day} is later than {limit}, {what}");
        let help = "later publications were not checked; state the date with `retrieved`, or use \
                    an earlier day";
        Err(self.text.error(self.text.key("as_of"), message, help))
    }

    pub(super) fn pieces(&mut self, pieces: &'a [Piece], out: &mut String) -> Result<()> {
        for piece in pieces {
            if self.numbers.len() > MAX_NUMBERS {
                let message = format!("more than {MAX_NUMBERS} numbers are computed");
                return Err(self.text.whole(message, "split it into several posts, or use tables"));
            }
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

    fn section(&mut self, section: &'a ConditionalSection, out: &mut String) -> Result<()> {
        let spec = self.spec(&section.alias, section.alias_span.clone())?;
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

    /// Evaluates a call, and writes its place into the Markdown.
    fn place(&mut self, call: &'a Call, out: &mut String) -> Result<()> {
        let made = self.call(call)?;
        let made = match made {
            CallResult::Amount(amount) => super::functions::print(self, call, &amount),
            other => other,
        };
        match made {
            CallResult::Number(at) => {
                self.placed.insert(at, call.span.clone());
                self.map.push((out.len(), call.span.start));
                let _ = write!(out, "{}", MarkdownPlace::Number(at));
            }
            CallResult::Block(block) => {
                self.alone(call)?;
                self.map.push((out.len(), call.span.start));
                self.blocks.push(block);
                let _ = write!(out, "\n{}\n", MarkdownPlace::Block(self.blocks.len() - 1));
            }
            CallResult::Amount(_) | CallResult::List(_) | CallResult::Answer(..) => {}
        }
        Ok(())
    }

    /// Checks that a block is on a line of its own.
    fn alone(&self, call: &Call) -> Result<()> {
        let text = self.text.text;
        let before = text[..call.span.start].rsplit('\n').next().unwrap_or("");
        let after = text[call.span.end..].split('\n').next().unwrap_or("");
        if before.trim() == "{{" && after.trim() == "}}" {
            return Ok(());
        }
        let message = format!("`{}` needs a line of its own", call.name);
        Err(self.text.error(call.span.clone(), message, "move it out of the sentence"))
    }

    fn post(self, markdown: String, assay_version: &str) -> Post {
        let results = self
            .used
            .iter()
            .map(|at| {
                let result = self.library.result(*at).clone();
                let source = self.library.source_words(&result.source);
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
        Post {
            file: self.text.name.to_owned(),
            front: self.front.clone(),
            assay_version: assay_version.to_owned(),
            numbers: self.numbers,
            findings: self.findings,
            results,
            runs,
            trademarks: self.trademarks,
            fair_use: None,
            typed: self.typed,
            claims: self.claims,
            runs_at: RunLocation::default(),
            source: self.text.text.to_owned(),
            markdown,
            blocks: self.blocks,
            marks: Marks::default(),
        }
    }
}

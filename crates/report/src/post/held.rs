//! What the data know: names and days that are no quantities, and results that words are checked against.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Comparison, Treatment, Verdict};
use assay_rules::quoted::is_date;

use super::error::PostError;
use super::evaluator::Evaluator;
use super::front::Front;
use super::library::Library;
use super::operand::summary_entry;
use super::typed::{Held, Measured, Names, atoms};
use crate::view::{RunView, deciding};

/// The names and days of every result and run.
pub(super) fn names(front: &Front, library: &Library, runs: &BTreeMap<String, RunView>) -> Names {
    let mut names = Names::default();
    for at in 0..library.len() {
        let row = library.result(at);
        let texts = [
            Some(row.benchmark.as_str()),
            Some(row.system.as_str()),
            row.vendor.as_deref(),
            row.processor.as_deref(),
            row.os.as_deref(),
            row.compiler_or_jvm.as_deref(),
        ];
        texts.into_iter().flatten().for_each(|text| names.add(text));
        for column in ["test", "variant"] {
            row.more.get(column).into_iter().for_each(|text| names.add(text));
        }
        // Of a metric only words such as `SPECint2006`: `started in 1 s` is none.
        for word in row.metric.split_whitespace().filter(|w| w.starts_with(char::is_alphabetic)) {
            names.add(word);
        }
        row.as_of_date.as_deref().into_iter().for_each(|day| names.day(day));
        names.unit(&row.unit);
    }
    for source in library.collection.sources() {
        names.day(&source.date);
    }
    for day in front.as_of.iter().chain(&front.retrieved) {
        names.day(day);
    }
    for view in runs.values() {
        names.day(&view.summary.started_at);
        names.add(&view.summary.workload);
        names.add(&view.summary.experiment);
        for t in &view.plan.treatments {
            t.label().split(", ").for_each(|level| names.add(level));
        }
        let shown = |path: &str| {
            ["version", "release", "model", "name", "compiler"]
                .iter()
                .any(|part| path.contains(part))
        };
        for (path, fact) in view.system.facts.iter().filter(|(path, _)| shown(path)) {
            fact.value()
                .into_iter()
                .for_each(|value| names.add(&format!("{} {value}", path.replace('.', " "))));
        }
        for s in &view.analysis.summaries {
            names.unit(&s.unit);
        }
    }
    names
}

fn words(texts: &[Option<&str>]) -> BTreeSet<String> {
    texts.iter().flatten().flat_map(|text| atoms(text)).map(|a| a.text).collect()
}

/// The quoted results that the post holds, and the treatments of its runs.
pub(super) fn results(e: &Evaluator<'_>) -> Vec<Held> {
    let mut all: Vec<Held> = quoted(e).collect();
    for (alias, view) in e.runs {
        all.extend(treatments(e, alias, view));
    }
    all
}

/// The treatments of a run in its deciding metric, but for those whose numbers are withheld.
fn treatments<'a>(
    e: &'a Evaluator<'_>,
    alias: &'a str,
    view: &'a RunView,
) -> impl Iterator<Item = Held> + 'a {
    let gate = &e.gates[alias];
    let analysis = &gate.analysis;
    let other_metrics: BTreeSet<String> = analysis
        .summaries
        .iter()
        .filter(|s| s.metric != analysis.metric)
        .flat_map(|s| s.metric.split('_'))
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .collect();
    // Of a level only what not all treatments share.
    let shared = view
        .plan
        .treatments
        .iter()
        .map(level_words)
        .reduce(|all, own| &all & &own)
        .unwrap_or_default();
    let own = deciding(analysis).into_iter().filter(|s| gate.treatment(s.treatment).is_none());
    own.filter_map(move |s| {
        let treatment = view.plan.treatment(s.treatment)?;
        let against = |c: &&Comparison| c.metric == s.metric;
        let verdicts = analysis.comparisons.iter().filter(against).filter_map(|c| {
            if c.treatment == s.treatment {
                return Some((c.baseline, c.verdict));
            }
            (c.baseline == s.treatment).then(|| (c.treatment, turned(c.verdict)))
        });
        Some(Held {
            words: words(&[Some(&treatment.key()), Some(&treatment.label())]),
            system: s.label.clone(),
            system_words: BTreeSet::new(),
            question: format!("{alias}: {}", s.metric),
            metric: words(&[Some(&s.metric)]),
            entry: summary_entry(view, s)?,
            id: None,
            measured: Some(Measured {
                treatment: s.treatment,
                levels: treatment.levels.iter().map(|(f, level)| format!("{f}={level}")).collect(),
                values: &level_words(treatment) - &shared,
                other_metrics: other_metrics.clone(),
                verdicts: verdicts.collect(),
            }),
        })
    })
}

/// The words of a treatment's levels, without the factors' names.
fn level_words(treatment: &Treatment) -> BTreeSet<String> {
    let levels: Vec<String> = treatment.levels.values().map(ToString::to_string).collect();
    levels.iter().flat_map(|level| atoms(level)).map(|a| a.text).collect()
}

/// A verdict with the sides exchanged.
fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        other => other,
    }
}

/// The quoted results that the post holds.
fn quoted<'a>(e: &'a Evaluator<'_>) -> impl Iterator<Item = Held> + 'a {
    e.used.iter().map(|at| {
        let row = e.library.result(*at);
        let ghz = row.ghz.map(|n| n.to_string());
        let named = [
            Some(row.system.as_str()),
            row.vendor.as_deref(),
            row.processor.as_deref(),
            row.os.as_deref(),
            row.compiler_or_jvm.as_deref(),
            row.more.get("test").map(String::as_str),
            row.more.get("variant").map(String::as_str),
            ghz.as_deref(),
        ];
        Held {
            words: words(&named),
            system: row.system.clone(),
            system_words: words(&[Some(&row.system)]),
            question: assay_rules::landscape::question(row),
            metric: words(&[Some(&row.metric)]),
            entry: e.library.entry(*at),
            id: Some(row.id.clone()),
            measured: None,
        }
    })
}

impl Evaluator<'_> {
    /// Nothing is known of days after the results were retrieved, nor of days to come.
    pub(super) fn not_in_the_future(&self, today: &str) -> Result<(), PostError> {
        let place = |key: &str| {
            let at = self.text.text.find(&format!("\n{key}")).map_or(0, |at| at + 1);
            at..at + key.len()
        };
        if let Some(day) = self.front.retrieved.as_deref().filter(|day| *day > today) {
            let message = format!("`retrieved` {day} lies in the future: today is {today}");
            return Err(self.text.error(
                place("retrieved"),
                message,
                "write the day of the retrieval",
            ));
        }
        let Some(day) = self.front.as_of.as_deref() else { return Ok(()) };
        if day > today {
            let message = format!("`as_of` {day} lies in the future: today is {today}");
            return Err(self.text.error(
                place("as_of"),
                message,
                "write the day that the statements are true of",
            ));
        }
        if self.used.is_empty() {
            return Ok(());
        }
        let dates = self.library.collection.sources().map(|s| s.date.as_str());
        let rows =
            (0..self.library.len()).filter_map(|at| self.library.result(at).as_of_date.as_deref());
        let newest = dates.chain(rows).filter(|d| is_date(d)).max();
        let (limit, what) = match (self.front.retrieved.as_deref(), newest) {
            (Some(retrieved), _) => (retrieved, "the day that the results were retrieved on"),
            (None, Some(newest)) => (newest, "the newest day that the quoted results know of"),
            (None, None) => return Ok(()),
        };
        if day <= limit {
            return Ok(());
        }
        let message = format!("`as_of` {day} is later than {limit}, {what}");
        let help = "later publications were not checked; state the date with `retrieved`, or use \
                    an earlier day";
        Err(self.text.error(place("as_of"), message, help))
    }

    /// The words of the front matter as they are printed, with marks at what was typed.
    pub(super) fn front_words(&mut self) -> Front {
        let mut front = self.front.clone();
        let text = self.text.text;
        let at = |key: &str| text.find(&format!("\n{key}")).map(|at| at + 1..at + 1 + key.len());
        front.title = self.typed_text(&front.title, "title", at("title"));
        front.summary = self.typed_text(&front.summary, "summary", at("summary"));
        for tag in &mut front.tags {
            *tag = self.typed_text(tag, "tag", at("tags"));
        }
        for (key, lines) in [("sources", &mut front.sources), ("trademarks", &mut front.trademarks)]
        {
            for line in lines {
                *line = self.typed_text(line, "disclosure", at(key));
            }
        }
        front.licensee =
            front.licensee.map(|who| self.typed_text(&who, "disclosure", at("licensee")));
        front
    }
}

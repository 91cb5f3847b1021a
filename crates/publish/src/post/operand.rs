//! Resolves the texts in a call: a quoted result, or `run:metric@treatment`.

use std::ops::Range;

use assay_model::{
    Better, CurvePoint, CurveSummary, Interval, MetricKind, TreatmentSummary, nearest,
};
use assay_quoted::denominator::{Basis, DenominatorCounts, SystemResult};
use assay_quoted::quantity::Quantity;

use super::amount::{Amount, FunctionAnswer, MissingValue, RunPart, RunResultRef};
use super::arguments::Arguments;
use super::document::Input;
use super::error::{PostError, Result, suggestion};
use super::evaluator::{CallResult, Evaluator};
use super::expression::{Call, Expression, ExpressionKind};
use super::front::RunSpec;
use super::library::MissingResult;
use super::score::{GEOMEAN, TOTAL};
use assay_report::figures::centre;
use assay_report::{RunView, WithheldResult};

impl<'a> Evaluator<'a> {
    /// Returns the amount that an argument refers to.
    pub(super) fn amount(&mut self, arguments: &Arguments<'a>, name: &str) -> Result<Amount> {
        let Some(expression) = arguments.get(name) else {
            let message = format!("`{}` needs `{name}`", arguments.function());
            return Err(arguments.error(name, message, ""));
        };
        self.amount_of(arguments, name, expression)
    }

    /// Returns the amount that an expression refers to.
    pub(super) fn amount_of(
        &mut self,
        arguments: &Arguments<'a>,
        name: &str,
        expression: &'a Expression,
    ) -> Result<Amount> {
        match &expression.what {
            ExpressionKind::Text(text) => self.named(text, expression.span.clone()),
            ExpressionKind::Call(call) => {
                if let Some(list) = self.operands.get(&call.span.start) {
                    return Ok(list[self.row.min(list.len() - 1)].clone());
                }
                let made = self.call(call)?;
                self.operand(made, call)
            }
            ExpressionKind::Number(number) if self.binding.is_some() => Ok(Amount::computed(
                &number.to_string(),
                Quantity::constant(*number, "1"),
                Better::Neither,
                &[],
            )),
            other => {
                let (function, word) = (arguments.function(), other.word());
                let message =
                    format!("`{name}` of `{function}` is a result's id in quotes, not {word}");
                let help =
                    "for example \"t5240-1.6\", or \"sweep:throughput@processes=1\" for a run";
                Err(self.text.error(expression.span.clone(), message, help))
            }
        }
    }

    /// Converts the result of a call to a value for another function.
    pub(super) fn operand(&self, made: CallResult, call: &Call) -> Result<Amount> {
        let error = |what: &str, help: &str| {
            let message = format!("`{}` makes {what}, not a value", call.name);
            Err(self.text.error(call.span.clone(), message, help))
        };
        match made {
            CallResult::Amount(amount) => Ok(*amount),
            CallResult::Number(at) if self.binding.is_some() => {
                let number = &self.numbers[at];
                match (&number.withheld, &number.answer) {
                    (Some(why), _) => Ok(Amount::missing(why, &number.unit)),
                    (None, Some(FunctionAnswer::Amount(amount))) => Ok((**amount).clone()),
                    _ => error("a text or a place", ""),
                }
            }
            CallResult::List(_) => {
                error("several values", "put `mean`, `sum`, `min` or `max` around it")
            }
            _ => error("a text", "`mean`, `sum`, `min` and `max` make values"),
        }
    }

    /// Lists the values of an argument: ids, ends of ids, patterns with `*`, calls, columns.
    pub(super) fn amounts(&mut self, arguments: &Arguments<'a>, name: &str) -> Result<Vec<Amount>> {
        let mut out = Vec::new();
        for member in arguments.members(name) {
            match &member.what {
                ExpressionKind::Text(text) => {
                    let rows = self.fitting(text, member.span.clone())?;
                    out.extend(rows.into_iter().map(|at| self.quoted(at)));
                }
                ExpressionKind::Call(call) => match self.call(call)? {
                    CallResult::List(list) => out.extend(list),
                    made => out.push(self.operand(made, call)?),
                },
                _ => out.push(self.amount_of(arguments, name, member)?),
            }
        }
        Ok(out)
    }

    /// Lists the inputs of amounts.
    pub(super) fn inputs(&self, amounts: &[&Amount]) -> Vec<Input> {
        let id = |at: usize| self.library.result(at).id.clone();
        amounts.iter().flat_map(|a| a.inputs(Basis::Total, id)).collect()
    }

    /// Returns the amount with this name.
    pub(super) fn named(&mut self, name: &str, span: Range<usize>) -> Result<Amount> {
        if self.binding.is_none()
            && let Some((alias, rest)) = name.split_once(':')
        {
            return self.of_run(alias, rest, span);
        }
        let at = self.row(name, span)?;
        Ok(self.quoted(at))
    }

    /// Returns the quoted result at an index, and records that the post rests on it.
    pub(super) fn quoted(&mut self, at: usize) -> Amount {
        self.used.insert(at);
        let row = self.library.result(at);
        Amount {
            entry: self.library.entry(at),
            benchmark: row.benchmark.clone(),
            metric: row.metric.clone(),
            rows: vec![at],
            run: None,
            decimals: Some(usize::from(row.value_decimals)),
            withheld: None,
            as_of: row.as_of_date.clone(),
        }
    }

    /// Returns the index of a quoted result.
    pub(super) fn row(&self, name: &str, span: Range<usize>) -> Result<usize> {
        self.library.find(name).map_err(|missing| match missing {
            MissingResult::Several(ids) => {
                let help = format!("write more of the id: {}", ids.join(", "));
                self.text.error(span, format!("`{name}` fits several results"), help)
            }
            MissingResult::None => {
                let ends =
                    self.library.ids().filter_map(|id| id.split_once('-').map(|(_, end)| end));
                let near = nearest(name, self.library.ids().chain(ends));
                let help = near.map_or_else(
                    || "`assay landscape NAME --csv` lists the ids of results".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                );
                self.text.error(span, format!("there is no result `{name}`"), help)
            }
        })
    }

    /// Finds the rows of an id, of the end of one, or of a pattern with `*`.
    pub(super) fn fitting(&self, text: &str, span: Range<usize>) -> Result<Vec<usize>> {
        if !text.contains('*') {
            return Ok(vec![self.row(text, span)?]);
        }
        let fitting = self.library.fitting(text);
        if fitting.is_empty() {
            return Err(self.text.error(span, format!("no result's id fits `{text}`"), ""));
        }
        Ok(fitting)
    }

    /// Returns the run of the front matter with this alias.
    pub(super) fn spec(&self, alias: &str, span: Range<usize>) -> Result<&'a RunSpec> {
        self.front.runs.get(alias).ok_or_else(|| {
            let known: Vec<&str> = self.front.runs.keys().map(String::as_str).collect();
            let message = format!("the front matter names no run `{alias}`");
            self.text.error(span, message, suggestion(alias, &known))
        })
    }

    /// Returns the run of the archive with this alias.
    pub(super) fn view(&mut self, alias: &str, span: Range<usize>) -> Result<&'a RunView> {
        let spec = self.spec(alias, span.clone())?;
        let Some(view) = self.runs.get(alias) else {
            let message = format!("the run `{alias}` ({}) is not in this archive", spec.run);
            // For a run that is named by its id, another run of the experiment is no replacement.
            let by_id = spec.run != "last" && !spec.run.contains(':');
            let make = if by_id {
                "name its archive with `--archive DIR`, add it with `assay archive import FILE`"
                    .to_owned()
            } else {
                format!("make it with `assay run {}`", spec.experiment)
            };
            let help = format!(
                "{make}, or put this part between `{{{{#run {alias}}}}}` and `{{{{/run}}}}`"
            );
            return Err(self.text.error(span, message, help));
        };
        self.used_runs.insert(alias.to_owned());
        Ok(view)
    }

    fn of_run(&mut self, alias: &str, rest: &str, span: Range<usize>) -> Result<Amount> {
        let view = self.view(alias, span.clone())?;
        let (metric, treatment) = rest.split_once('@').unwrap_or((rest, ""));
        if let Some(suite) = &self.gates[alias].analysis.suite
            && [GEOMEAN, TOTAL].contains(&metric)
        {
            return self.score(alias, view, suite, metric, treatment, &span);
        }
        let analysis = &self.gates[alias].analysis;
        let id = self.treatment(view, treatment, &span)?;
        let summary = analysis.summaries.iter().find(|s| s.treatment == id && s.metric == metric);
        let read = match summary {
            Some(s) => of_summary(view, s),
            None => match metric.rsplit_once('.').and_then(|(curve, part)| {
                let found = analysis.curves.iter().find(|c| c.treatment == id && c.name == curve);
                found.and_then(|c| of_curve(c, part))
            }) {
                Some(read) => read,
                None => return Err(self.no_metric(view, id, metric, span)),
            },
        };
        let label = on_host(&view.label(id), view);
        let part = if summary.is_some() { RunPart::Treatment(id) } else { RunPart::Curve };
        let run = RunResultRef { alias: alias.to_owned(), part, treatments: vec![id] };
        let read = ReadValue { what: format!("{} of {label}", read.what), ..read };
        self.read_of(view, label, metric, run, &read)
            .map_err(|e| self.text.error(span, e.to_string(), ""))
    }

    /// Returns the amount of a value that was read from a run; a missing value is an error, unless
    /// it is withheld.
    pub(super) fn read_of(
        &self,
        view: &RunView,
        label: String,
        metric: &str,
        run: RunResultRef,
        read: &ReadValue,
    ) -> Result<Amount, MissingValue> {
        let gate = &self.gates[&run.alias];
        let withheld =
            run.treatments.iter().find_map(|t| gate.treatment(*t)).map(WithheldResult::reason);
        if read.value.is_none() && withheld.is_none() {
            let (metric, run) = (metric.to_owned(), view.summary.id.clone());
            return Err(MissingValue::InRun { metric, label, run });
        }
        let from = format!("run {}", view.summary.id);
        let value = read.value.unwrap_or(f64::NAN);
        let value = Quantity::given(value, &read.unit, read.kind, &read.what, &from)
            .with_interval(read.interval);
        Ok(Amount {
            entry: SystemResult { label, value, better: read.better, counts: counts(view) },
            benchmark: view.summary.workload.clone(),
            metric: metric.to_owned(),
            rows: Vec::new(),
            run: Some(run),
            decimals: None,
            withheld,
            as_of: Some(view.summary.started_at.chars().take(10).collect()),
        })
    }

    /// Returns the only treatment that has all the given levels.
    pub(super) fn treatment(
        &self,
        view: &RunView,
        wanted: &str,
        span: &Range<usize>,
    ) -> Result<u32> {
        let fits: Vec<u32> = view
            .plan
            .treatments
            .iter()
            .filter(|t| {
                let named = |name: String| fits(wanted, &name.split(", ").collect::<Vec<_>>());
                named(t.key()) || named(t.label())
            })
            .map(|t| t.id)
            .collect();
        let labels: Vec<String> =
            view.plan.treatments.iter().take(12).map(|t| format!("`{}`", t.label())).collect();
        let labels = labels.join(", ");
        let (message, help) = match fits.as_slice() {
            [one] => return Ok(*one),
            [] => (format!("the run has no treatment `{wanted}`"), format!("it has {labels}")),
            _ => {
                let with =
                    if wanted.is_empty() { String::new() } else { format!(" with `{wanted}`") };
                let message = format!("the run has several treatments{with}");
                (message, format!("name one after `@`: {labels}"))
            }
        };
        Err(self.text.error(span.clone(), message, help))
    }

    fn no_metric(&self, view: &RunView, id: u32, metric: &str, span: Range<usize>) -> PostError {
        let of = |s: &&TreatmentSummary| s.treatment == id;
        let mut known: Vec<String> =
            view.analysis.summaries.iter().filter(of).map(|s| s.metric.clone()).collect();
        for c in view.analysis.curves.iter().filter(|c| c.treatment == id) {
            known.extend(PARTS.iter().map(|p| format!("{}.{p}", c.name)));
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let message = format!("run {} has no metric `{metric}`", view.summary.id);
        self.text.error(span, message, suggestion(metric, &known))
    }
}

/// Returns true if a text consists only of levels of a treatment, separated by commas. Levels may
/// contain commas too.
pub(super) fn fits(wanted: &str, own: &[&str]) -> bool {
    let wanted = wanted.trim().trim_start_matches(',').trim_start();
    wanted.is_empty()
        || own.iter().any(|level| {
            wanted
                .strip_prefix(level)
                .is_some_and(|rest| (rest.is_empty() || rest.starts_with(',')) && fits(rest, own))
        })
}

/// Parts of a curve that can be read.
const PARTS: [&str; 5] = ["best", "best_x", "efficient", "efficient_x", "smoothness"];

/// A value read from a run.
pub(super) struct ReadValue {
    pub(super) kind: MetricKind,
    pub(super) value: Option<f64>,
    pub(super) unit: String,
    pub(super) interval: Option<Interval>,
    pub(super) better: Better,
    pub(super) what: String,
}

fn of_summary(view: &RunView, s: &TreatmentSummary) -> ReadValue {
    let kind = view
        .counted(s.treatment)
        .into_iter()
        .find_map(|r| r.metrics.iter().find(|m| m.name == s.metric).map(|m| m.kind));
    ReadValue {
        kind: kind.unwrap_or_default(),
        value: centre(s),
        unit: s.unit.clone(),
        interval: s.interval(),
        better: s.better,
        what: s.metric.clone(),
    }
}

fn of_curve(c: &CurveSummary, part: &str) -> Option<ReadValue> {
    let better = c.better;
    // A curve that is withheld, or that has no such point, has no value here.
    let value = |p: Option<&CurvePoint>, which: &str| ReadValue {
        kind: c.kind,
        value: p.map(|p| p.value),
        unit: c.unit.clone(),
        interval: p.and_then(|p| p.interval),
        better,
        what: format!("{which} value of the curve {}", c.name),
    };
    let place = |p: Option<&CurvePoint>, which: &str| ReadValue {
        kind: c.kind,
        value: p.map(|p| p.x),
        unit: c.x_unit.clone(),
        interval: None,
        better: Better::Neither,
        what: format!("{} of the {which} value of the curve {}", c.x_noun(), c.name),
    };
    match part {
        "best" => Some(value(c.best.as_ref(), "best")),
        "best_x" => Some(place(c.best.as_ref(), "best")),
        "efficient" => Some(value(c.efficient.as_ref(), "most efficient")),
        "efficient_x" => Some(place(c.efficient.as_ref(), "most efficient")),
        "smoothness" => Some(ReadValue {
            kind: c.kind,
            value: c.smoothness,
            unit: "1".to_owned(),
            interval: None,
            better: Better::Higher,
            what: format!("smoothness of the curve {}", c.name),
        }),
        _ => None,
    }
}

/// Returns the name of a setting on the run's machine.
pub(super) fn on_host(label: &str, view: &RunView) -> String {
    let host = &view.summary.host;
    if label.is_empty() || label == "-" { host.clone() } else { format!("{label} on {host}") }
}

/// Returns the count of each denominator in the system of a run.
fn counts(view: &RunView) -> DenominatorCounts {
    let count =
        |path: &str| view.system.get(path).and_then(|t| t.parse::<f64>().ok()).filter(|n| *n > 0.0);
    DenominatorCounts {
        chips: count("cpu.sockets"),
        cores: count("cpu.cores"),
        threads: count("cpu.threads"),
        ..DenominatorCounts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn levels_with_commas_are_found() {
        let own = ["case=a", "storage=loop:btrfs,raid0,size=1GiB", "n=2"];
        for wanted in ["", "n=2", "n=2,case=a", "storage=loop:btrfs,raid0,size=1GiB, n=2"] {
            assert!(fits(wanted, &own), "{wanted}");
        }
        for wanted in ["n=21", "storage=loop:btrfs", "storage=loop:btrfs,size=1GiB", "n=2,m=1"] {
            assert!(!fits(wanted, &own), "{wanted}");
        }
    }
}

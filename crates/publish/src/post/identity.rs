//! Names of values in sentences: system, chips and clock, and as much of the configuration as
//! distinguishes a result from the others of its metric.

use assay_quoted::denominator::Basis;
use assay_quoted::quoted::QuotedResult;

use super::amount::Amount;
use super::document::Facts;
use super::evaluator::Evaluator;

/// Fields that distinguish results of a system, used after the fields of the benchmark itself.
const FIELDS: [&str; 9] = [
    "os",
    "compiler_or_jvm",
    "processor",
    "cores",
    "threads",
    "instances",
    "memory_gb",
    "vendor",
    "config_note",
];

impl Evaluator<'_> {
    /// Returns the descriptive parts of a number of one value, or of two that are compared.
    pub(super) fn facts(&self, amounts: &[&Amount], basis: Basis) -> Facts {
        let [a, rest @ ..] = amounts else { return Facts::default() };
        let b = rest.first();
        let mut facts = Facts {
            subject: self.identified(a),
            baseline: b.map(|b| self.identified(b)),
            metric: metric(a),
            denominator: match basis {
                Basis::Total => None,
                Basis::Per(d) => Some(d.name().to_owned()),
            },
            ..Facts::default()
        };
        if let (Some(b), Some(baseline)) = (b, &mut facts.baseline) {
            let other = metric(b);
            if other != facts.metric {
                facts.subject = format!("{} in {}", facts.subject, facts.metric);
                *baseline = format!("{baseline} in {other}");
                facts.metric.clear();
            }
            if *baseline == facts.subject
                && let (Some(own), Some(run)) = (self.run_of(a), self.run_of(b))
                && own != run
            {
                facts.subject = format!("{} in run {own}", facts.subject);
                *baseline = format!("{baseline} in run {run}");
            }
        }
        facts
    }

    fn run_of(&self, amount: &Amount) -> Option<String> {
        Some(self.runs.get(&amount.run.as_ref()?.alias)?.summary.id.to_string())
    }

    /// Returns the name of a value. For quoted results it has the fields, in order, that the
    /// results behind it share and that some other result of that system and metric does not, until
    /// no other result is left.
    fn identified(&self, amount: &Amount) -> String {
        let Some(first) = amount.rows.first() else { return amount.entry.label.clone() };
        let row = self.library.result(*first);
        let plain = self.plain(*first);
        let name = match amount.rows.len() {
            1 => plain.to_owned(),
            _ => amount.entry.label.clone(),
        };
        let of_group = |at: &usize| amount.rows.contains(at);
        let same_result = |r: &QuotedResult| r.result.is_some() && r.result == row.result;
        let mut others: Vec<&QuotedResult> = (0..self.library.len())
            .filter(|at| !of_group(at) && self.plain(*at) == plain)
            .map(|at| self.library.result(at))
            .filter(|r| r.metric == row.metric && !same_result(r))
            .collect();
        let mut told = Vec::new();
        for field in row.more.keys().map(String::as_str).filter(|f| *f != "result").chain(FIELDS) {
            let Some(own) = row.field(field) else { continue };
            let shared = |at: &usize| self.library.result(*at).field(field).as_ref() == Some(&own);
            let differs = |r: &&QuotedResult| r.field(field).as_ref() != Some(&own);
            if amount.rows.iter().all(shared) && others.iter().any(differs) {
                others.retain(|r| !differs(r));
                told.push(match field {
                    "memory_gb" => format!("{own} GB"),
                    "cores" | "threads" | "instances" if own == "1" => {
                        format!("1 {}", field.trim_end_matches('s'))
                    }
                    "cores" | "threads" | "instances" => format!("{own} {field}"),
                    _ => own.into_owned(),
                });
            }
        }
        if !others.is_empty() && amount.rows.len() == 1 {
            told.push(row.id.clone());
        }
        match (told.is_empty(), name.strip_suffix(')')) {
            (true, _) => name,
            (false, Some(open)) => format!("{open}, {})", told.join(", ")),
            (false, None) => format!("{name} ({})", told.join(", ")),
        }
    }

    /// Returns the label of a result without its id.
    fn plain(&self, at: usize) -> &str {
        let label = self.library.label(at);
        let own = label
            .strip_suffix(']')
            .and_then(|l| l.strip_suffix(self.library.result(at).id.as_str()));
        own.and_then(|l| l.strip_suffix(" [")).unwrap_or(label)
    }
}

/// Returns the metric, preceded by the benchmark if the metric's name lacks it.
fn metric(amount: &Amount) -> String {
    let head = |text: &str| text.chars().take(4).collect::<String>().to_lowercase();
    if amount.rows.is_empty() || head(&amount.metric) == head(&amount.benchmark) {
        return amount.metric.clone();
    }
    format!("{} {}", amount.benchmark, amount.metric)
}

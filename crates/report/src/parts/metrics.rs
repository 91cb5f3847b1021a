//! Every metric of a run except the deciding one: a row for each metric, a column for each
//! treatment.

use assay_chart::small::{self, Mean};
use assay_model::TreatmentSummary;

use crate::document::table::ColumnKind;
use crate::document::{
    DocumentPart, Outputs, Parts, Table, TableCell, Text, TextStyle, Tone, TrialLinks, cell,
};
use crate::figures::{NO_VALUE, centre, percent, summary_texts, value_text};
use crate::gate::Gate;
use crate::merged_sentences::distinct;
use crate::parts::results::{other, whole_runs};
use crate::view::RunView;

/// Returns the table with a small chart in each row, and the metrics of the run as a whole; `None`
/// without any.
pub(crate) fn metrics(view: &RunView, gate: &Gate) -> Option<Parts> {
    let a = &gate.analysis;
    if gate.run().is_some() {
        return None;
    }
    let others = a.summaries.iter().filter(|s| other(a, s));
    let names = distinct(others.map(|s| s.metric.as_str()));
    let mut out = Parts::default();
    if !names.is_empty() {
        out.table(table(view, gate, &names));
        out.on(
            Outputs::Page,
            DocumentPart::Paragraph(
                Tone::Soft,
                "Each small chart has a scale of \
            its own, which need not start at zero: dots and bars are the means and intervals of \
            the treatments in the order of the columns. Pointing at a value gives its n, minimum \
            and maximum."
                    .into(),
            ),
        );
    }
    whole_runs(a, &mut out);
    (!out.0.is_empty()).then_some(out)
}

fn table(view: &RunView, gate: &Gate, names: &[&str]) -> Table {
    let treatments = view.treatments();
    let level = percent(gate.analysis.confidence);
    let caption = format!("Every other metric by treatment: geometric mean [{level} CI]");
    let mut table = Table::captioned(caption).label("metric").word("better").word("treatments");
    for t in &treatments {
        table = table.column(Outputs::All, ColumnKind::Number, view.label(*t));
    }
    for name in names {
        let own: Vec<Option<&TreatmentSummary>> = treatments
            .iter()
            .map(|t| {
                gate.analysis.summaries.iter().find(|s| s.metric == *name && s.treatment == *t)
            })
            .collect();
        let there: Vec<&TreatmentSummary> = own.iter().flatten().copied().collect();
        let mut texts = summary_texts(&there).into_iter();
        let better = there.first().map_or("", |s| s.better.words());
        let means: Vec<Mean> = own.iter().map(|s| mean(*s)).collect();
        let chart = Text::default().piece(TextStyle::Made(small::render(&means)), "");
        let better = better.split(' ').next().unwrap_or("").to_owned();
        let mut row = vec![cell((*name).to_owned()), cell(better), cell(chart)];
        for (s, t) in own.iter().zip(&treatments) {
            row.push(match (s, gate.treatment(*t)) {
                (_, Some(w)) => {
                    cell(Text::default().piece(TextStyle::Unknown("withheld"), w.text()))
                }
                (Some(s), None) => {
                    let behind = TrialLinks::metric(view, &[*t], name);
                    let [low, high] =
                        [s.summary.min, s.summary.max].map(|v| value_text(v, &s.unit));
                    let title = Some(format!("n {}, min {low}, max {high}", s.summary.n));
                    TableCell {
                        title,
                        ..TableCell::from(&behind, texts.next().unwrap_or_default())
                    }
                }
                (None, None) => cell(NO_VALUE),
            });
            if gate.treatment(*t).is_some() && s.is_some() {
                texts.next();
            }
        }
        table.row(row);
    }
    table
}

fn mean(s: Option<&TreatmentSummary>) -> Mean {
    let interval = s.and_then(TreatmentSummary::interval);
    Mean {
        value: s.and_then(centre).unwrap_or(f64::NAN),
        low: interval.map_or(f64::NAN, |i| i.low),
        high: interval.map_or(f64::NAN, |i| i.high),
    }
}

//! The percentiles of each treatment, from the merged histograms of its trials.

use std::collections::BTreeMap;

use assay_model::units::common_reference;

use crate::document::table::ColumnKind;
use crate::document::{DocumentPart, Outputs, Parts, Table, TableCell, Tone, TrialLinks, cell};
use crate::figures::{percentile_doubts, percentile_text, value_mark};
use crate::gate::Gate;
use crate::view::RunView;
use crate::{percentiles, words};

/// Returns a row for each percentile and treatment, with the number of samples behind it; empty
/// without histograms.
pub(crate) fn percentiles(view: &RunView, gate: &Gate) -> Parts {
    let mut out = Parts::default();
    let rows = percentiles::rows(&gate.analysis);
    if rows.is_empty() {
        return out;
    }
    let several = if view.plan.treatments.len() > 1 { Outputs::All } else { Outputs::Published };
    let mut table =
        Table::captioned("Percentiles of the merged histograms of each treatment's trials")
            .label("percentile")
            .column(several, ColumnKind::Label, "treatment")
            .numbers(["value", "samples", "beyond"])
            .column(Outputs::Terminal, ColumnKind::Number, "trials")
            .trials();
    let mut withheld = Vec::new();
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (h, p) in &rows {
        values.entry(&h.unit).or_default().extend(p.value);
    }
    let scales: BTreeMap<_, _> =
        values.into_iter().map(|(unit, values)| (unit, common_reference(values))).collect();
    for &(h, p) in &rows {
        let scale = scales.get(h.unit.as_str()).copied().flatten();
        let behind = TrialLinks::histogram(view, h);
        let (name, label) = (percentiles::name(h, p), view.label(h.treatment));
        if !p.withheld.is_empty() {
            withheld.push(format!("{name} of {label}: {}", p.withheld));
        }
        let value = if p.value.is_none() && !p.withheld.is_empty() {
            "withheld".to_owned()
        } else {
            let doubtful = !percentile_doubts(&gate.analysis, h, p).is_empty();
            percentile_text(p, &h.unit, scale) + value_mark(&gate.analysis, doubtful)
        };
        table.row(vec![
            cell(name),
            cell(label),
            TableCell::from(&behind, value),
            cell(p.samples.to_string()),
            cell(p.beyond.to_string()),
            cell(p.trials.to_string()),
            TableCell::trials(&behind),
        ]);
    }
    out.heading("percentiles", "Percentiles");
    out.table(table);
    out.notes(withheld);
    out.on(Outputs::Published, DocumentPart::Paragraph(Tone::Soft, words::PERCENTILES.into()));
    out
}

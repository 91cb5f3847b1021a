//! Heat maps of values that a workload counted over time, such as response times.

use assay_chart::heat::{self, Heat};
use assay_chart::{Head, PhaseSpan, ScaleKind, WIDTH};
use assay_model::TrialRecord;
use maud::Markup;

use super::time::whole;
use crate::parts::curves::slug;
use crate::parts::draw::seconds;

/// Largest number of heat maps drawn for a trial; the others are in its record.
const MAX_MAPS: usize = 4;

/// Draws a trial's heat maps, each with its title.
pub(super) fn charts(record: &TrialRecord, phases: &[PhaseSpan]) -> Vec<(String, Markup)> {
    let drawable = record.heat_maps.iter().filter(|(_, h)| h.check().is_ok());
    drawable.take(MAX_MAPS).map(|(name, heat)| chart(record, name, heat, phases)).collect()
}

fn chart(
    record: &TrialRecord,
    name: &str,
    heat: &assay_model::Heat,
    phases: &[PhaseSpan],
) -> (String, Markup) {
    let title = name.replace('_', " ");
    // The axis adds the prefix to seconds.
    let (factor, unit) = assay_model::units::in_seconds(&heat.unit);
    let edges: Vec<f64> = heat.edges.iter().map(|e| *e as f64 * factor).collect();
    let wide = edges[0] > 0.0 && edges[edges.len() - 1] / edges[0] >= 4.0;
    let drawn = Heat {
        head: Head {
            id: format!("heat-{}-{}", record.number, slug(name)),
            title: format!("{title} over time, trial {}", record.number),
            desc: format!("How often each {title} occurred in each stretch of time."),
        },
        name: title.clone(),
        unit: unit.to_owned(),
        kind: if wide { ScaleKind::Log10 } else { ScaleKind::Linear },
        what: "times".to_owned(),
        columns_s: (seconds(record, heat.start_ns), heat.column_ns as f64 / 1e9),
        rows: edges.windows(2).map(|e| (e[0], e[1])).collect(),
        counts: heat.counts.clone(),
        phases: phases.to_vec(),
    };
    (title, heat::render_over(&drawn, whole(record), WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn what_was_counted_is_drawn_on_the_clock_of_the_trial() {
        let view = fixtures::commands();
        let mut record = view.records[0].clone();
        assert_eq!(charts(&record, &[]).len(), 0);
        let heat = assay_model::Heat {
            unit: "ns".into(),
            start_ns: record.start_ns + 2_000_000_000,
            column_ns: 1_000_000_000,
            edges: vec![1000, 2000, 4000, 8000],
            counts: vec![vec![5, 1, 0], vec![0, 9, 0]],
        };
        record.heat_maps.insert("response_time".into(), heat.clone());
        record.heat_maps.insert("bad".into(), assay_model::Heat { edges: vec![], ..heat });
        let charts = charts(&record, &[]);
        assert_eq!(charts.len(), 1, "what cannot be drawn is left out");
        let (title, svg) = &charts[0];
        let svg = svg.0.as_str();
        assert_eq!(title, "response time");
        assert!(svg.contains("from 2.0 s: 6 times; most (5) from 1 µs to 2 µs"), "{svg}");
        assert!(svg.contains("from 3.0 s: 9 times"), "{svg}");
    }
}

//! What the tracer of block I/O counted, of runs side by side.

use assay_model::Across;

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{NO_VALUE, ratio_text, with_interval};

/// A line for every metric, treatment and run; `of` has the same runs in each metric. Nothing for none.
pub fn io_across(of: &[Across], style: Style) -> String {
    let rows = |a: &Across| a.rows.iter().any(|r| r.summaries.iter().flatten().count() > 0);
    let shown: Vec<&Across> = of.iter().filter(|a| rows(a)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let treatments = shown.iter().any(|a| a.rows.len() > 1);
    let mut table = Table::default().word("metric");
    if treatments {
        table = table.label("treatment");
    }
    table = table.word("run").number("geometric mean").number("ratio to #1");
    for a in shown {
        for row in &a.rows {
            for (i, (summary, ratio)) in row.summaries.iter().zip(&row.comparisons).enumerate() {
                let value =
                    summary.as_ref().and_then(|s| Some((s.geomean.or(s.mean)?, s.interval)));
                let mut cells = vec![cell(a.metric.trim_start_matches("io."))];
                if treatments {
                    cells.push(cell(row.label.clone()));
                }
                cells.push(cell(format!("#{}", i + 1)));
                cells.push(cell(value.map_or_else(
                    || NO_VALUE.to_owned(),
                    |(v, interval)| with_interval(v, interval, &a.unit),
                )));
                cells.push(cell(ratio.as_ref().map_or_else(String::new, ratio_text)));
                table.row(cells);
            }
        }
    }
    let mut w = Writer::new(style);
    w.blank();
    w.wrapped(0, "Block I/O of the measured part, all programs together", Paint::Strong);
    w.finish() + &table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn every_metric_of_every_run_has_a_line() {
        let view = fixtures::commands();
        let mut made = fixtures::across(&view);
        made.metric = "io.writes".into();
        let text = io_across(&[made.clone()], Style::default());
        let runs = made.rows.iter().map(|r| r.summaries.len()).sum::<usize>();
        assert_eq!(text.lines().filter(|l| l.starts_with("writes ")).count(), runs, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        assert_eq!(io_across(&[], Style::default()), "");
    }
}

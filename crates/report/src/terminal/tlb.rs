//! The cost of address translation in a terminal: the columns of `trapstat -t`.

use std::fmt::Write;

use assay_model::units::{format_bytes, significant};
use assay_traces::translation::{SideRow, Simulation, StepCost, TranslationRow, TranslationTable};

use super::Style;
use crate::document::{DocumentPart, Parts, Table as Columns, Tone, cell, terminal};

/// Formats the table with its subject and the notes for reading it.
pub fn tlb(table: &TranslationTable, style: Style) -> String {
    terminal::parts(&translation(table, style), style)
}

fn translation(table: &TranslationTable, style: Style) -> Parts {
    let mut all = Parts::default();
    let title = format!("address translation, {}: {}", table.kind, table.of);
    let steps = table.total.data.steps.len().max(table.total.instruction.steps.len());
    if steps <= 2 && style.columns() >= 79 {
        all.toned(Tone::Strong, title);
        all.push(DocumentPart::Code("", wide(table)));
    } else {
        all.table(long(table, title));
    }
    all.notes(table.notes.iter().cloned());
    all
}

/// Formats a simulation: the table, and the lookups and misses of the TSBs.
pub fn simulation(s: &Simulation, style: Style) -> String {
    let mut all = translation(&s.table, style);
    let processes = if s.processes == 1 { "process" } else { "processes" };
    all.note(format!(
        "simulated from {} accesses of {} {processes} ({}); a miss costs what the machine file \
         states, and \
         time is its cycles: not a measurement",
        s.accesses, s.processes, s.format
    ));
    all.table(counts(&s.table.total));
    let mut columns =
        Columns::default().number("TSB").number("processes").number("lookups").number("missed");
    for tsb in s.tsbs.iter().take(MAX_TSBS) {
        let share = 100.0 * tsb.misses as f64 / tsb.lookups as f64;
        columns.row(vec![
            cell(format_bytes(tsb.bytes)),
            cell(tsb.processes.to_string()),
            cell(tsb.lookups.to_string()),
            cell(if tsb.lookups == 0 { "-".into() } else { format!("{share:.1} %") }),
        ]);
    }
    all.table(columns);
    if s.tsbs.len() > MAX_TSBS {
        all.note(format!("and {} more", s.tsbs.len() - MAX_TSBS));
    }
    terminal::parts(&all, style)
}

const MAX_TSBS: usize = 16;

/// Returns the total counts; the rates above are these over simulated time.
fn counts(total: &TranslationRow) -> Columns {
    let mut columns = Columns::default().word("counted").number("accesses");
    for cost in &total.data.steps {
        columns = columns.number(cost.step.name());
    }
    let whole = |n: Option<f64>| cell(n.map_or_else(|| "-".into(), |n| format!("{n:.0}")));
    for (side, name) in [(&total.instruction, "instruction"), (&total.data, "data")] {
        let mut cells = vec![cell(name), whole(side.accesses)];
        cells.extend(side.steps.iter().map(|cost| whole(cost.misses)));
        columns.row(cells);
    }
    columns
}

/// Formats the table in trapstat's own layout, with both sides on one line.
fn wide(table: &TranslationTable) -> String {
    let mut out = String::new();
    let side = |row: &SideRow, letter: char| {
        let mut text = String::new();
        for cost in &row.steps {
            let _ = write!(text, " {:>9} %tim", format!("{letter}{}", cost.step.name()));
        }
        text
    };
    let (i, d) = (side(&table.total.instruction, 'i'), side(&table.total.data, 'd'));
    let _ = writeln!(out, " page  time|{i} |{d} |%tim");
    let _ = writeln!(out, "-----------+{}-+{}-+----", "-".repeat(i.len()), "-".repeat(d.len()));
    for (row, label) in labelled(table) {
        let side = |side: &SideRow| {
            side.steps.iter().fold(String::new(), |text, cost| {
                format!("{text} {:>9} {:>4}", rate(cost), share(cost.share))
            })
        };
        let (i, d) = (side(&row.instruction), side(&row.data));
        let _ = writeln!(out, "{label:>11}|{i} |{d} |{:>4}", share(row.share));
    }
    out
}

/// Formats the table with one line per side, for three steps and for narrow terminals.
fn long(table: &TranslationTable, title: String) -> Columns {
    let mut columns = Columns::captioned(title).word("page  time").word("side");
    for cost in &table.total.data.steps {
        columns = columns.number(cost.step.name()).number("%tim");
    }
    columns = columns.number("all %tim");
    for (row, label) in labelled(table) {
        for (side, name) in [(&row.instruction, "instruction"), (&row.data, "data")] {
            let first = name == "instruction";
            let mut cells = vec![cell(if first { label.as_str() } else { "" }), cell(name)];
            for cost in &side.steps {
                cells.push(cell(rate(cost)));
                cells.push(cell(share(cost.share)));
            }
            cells.push(cell(if first { share(row.share) } else { String::new() }));
            columns.row(cells);
        }
    }
    columns
}

fn labelled(table: &TranslationTable) -> impl Iterator<Item = (&TranslationRow, String)> {
    let intervals = table.rows.iter().map(|r| (r, format!("{} s", significant(r.at_s, 3))));
    let pages = table.by_page.iter().map(|r| (r, r.page.map_or_else(String::new, format_bytes)));
    intervals.chain(pages).chain([(&table.total, "ttl".to_owned())])
}

/// Formats misses per second as a whole number.
fn rate(cost: &StepCost) -> String {
    cost.per_second.map_or_else(
        || "-".into(),
        |r| if r < 1e9 { format!("{r:.0}") } else { format!("{r:.2e}") },
    )
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |s| format!("{:.1}", s * 100.0))
}

#[cfg(test)]
mod tests {
    use assay_traces::translation::source::AccessStream;
    use assay_traces::translation::synthetic::{Load, Synthetic};
    use assay_traces::translation::{SimulatedMachine, SimulationOptions, simulate};

    use super::*;

    fn run(machine: &str) -> Simulation {
        let load = Load {
            processes: 3,
            smallest: 1 << 20,
            largest: 8 << 20,
            code: 1 << 20,
            slice: 10_000,
            accesses: 200_000,
            seed: 1,
        };
        let mut source = Synthetic::new(&load).unwrap();
        let source: &mut dyn AccessStream = &mut source;
        let wish = SimulationOptions { every: Some(100_000), ..SimulationOptions::default() };
        simulate(&SimulatedMachine::preset(machine).unwrap(), source, wish).unwrap()
    }

    #[test]
    fn the_columns_are_trapstats_and_fit() {
        for (machine, tsb) in [("solaris-9", true), ("two-level-tsb", true), ("x86-64", false)] {
            for width in [80, 60, 40] {
                let text = simulation(&run(machine), Style { width, ..Style::default() });
                assert!(
                    text.lines().all(|l| l.chars().count() <= width),
                    "{machine} {width}: {text}"
                );
                assert!(text.contains("ttl") && text.contains("simulated"), "{text}");
                assert!(text.contains("accesses"), "{text}");
                assert_eq!(text.contains("tsb-miss"), tsb, "{text}");
            }
        }
        let s = run("solaris-9");
        let text = simulation(&s, Style::default());
        let counted = s.table.total.data.steps[0].misses.unwrap();
        assert!(counted > 0.0 && text.contains(&format!(" {counted:.0}")), "{text}");
        assert!(
            text.contains("| itlb-miss %tim itsb-miss %tim | dtlb-miss %tim dtsb-miss %tim |%tim"),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_no_number() {
        let mut s = run("solaris-9");
        for side in [&mut s.table.total.instruction, &mut s.table.total.data] {
            side.steps.iter_mut().for_each(|c| (c.per_second, c.share) = (None, None));
        }
        s.table.total.share = None;
        let text = tlb(&s.table, Style::default());
        let last = text.lines().find(|l| l.trim_start().starts_with("ttl")).unwrap();
        assert!(!last.chars().any(|c| c.is_ascii_digit()) && last.contains('-'), "{text}");
    }
}

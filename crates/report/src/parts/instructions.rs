//! Instructions that Valgrind counted in trials that were not timed: of the whole program, and by
//! function. They are never a verdict on time.

use assay_traces::profile::{InstructionChange, Instructions, Profile, ProfileSide, functions};

use super::difference;
use crate::document::{Parts, Table, cell};

/// Formats a count, rounded to an integer, with thousands separators.
fn count(n: f64) -> String {
    let digits = format!("{:.0}", n.abs());
    let mut out = String::from(if n < 0.0 { "-" } else { "" });
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Returns the functions with the most instructions, as means over a treatment's trials.
pub(crate) fn table(counted: &[&Profile], most: usize) -> Table {
    let merged = Profile::merged(counted.iter().copied());
    let n = counted.len().max(1) as f64;
    let total = merged.total_ns(ProfileSide::OnCpu).max(1) as f64;
    let caption = format!("Functions by instructions a trial, {} in all", count(total / n));
    let mut t = Table::of(caption).number("instructions").number("").label("function").label("in");
    for f in functions(&merged, ProfileSide::OnCpu, None).iter().take(most) {
        t.row(vec![
            cell(count(f.self_count as f64 / n)),
            cell(format!("{:.1} %", 100.0 * f.self_count as f64 / total)),
            cell(f.frame.label()),
            cell(f.frame.module_name().to_owned()),
        ]);
    }
    t
}

/// Returns the functions whose instructions differ between two treatments: the clear ones, and the
/// largest others.
pub(crate) fn changes(d: &Instructions, labels: [&str; 2], most: usize) -> Parts {
    let mut out = Parts::default();
    let caption =
        format!("Instructions a trial: {} against {}: {}", labels[1], labels[0], d.all.words());
    let mut t = difference::columns(Table::of(caption).label("function"), labels, d.confidence);
    let differ = d.functions.iter().filter(|c| c.difference != 0.0).take(most);
    for (c, name) in std::iter::once((&d.all, "all of the program".to_owned()))
        .chain(differ.map(|c| (c, c.function.clone())))
    {
        t.row(row(c, name));
    }
    out.table(t);
    let trials = format!(
        "counted by Valgrind in {} and {} trials that were not timed: a second witness of what the program does, no \
         verdict on time",
        d.trials[0], d.trials[1]
    );
    out.note(if d.trials.iter().any(|n| *n < 3) {
        format!("{trials}. Fewer than three a side have no interval, and nothing is clear.")
    } else {
        format!("{trials}. Clear after Holm's correction for {} functions.", d.functions.len())
    });
    out
}

fn row(c: &InstructionChange, name: String) -> Vec<crate::document::TableCell> {
    let [by, interval] = difference::cells(c.difference, c.interval, count);
    vec![
        cell(name),
        cell(count(c.instructions[0])),
        cell(count(c.instructions[1])),
        by,
        interval,
        cell(if c.clear { "yes" } else { "no" }),
    ]
}

//! Instructions that Valgrind counted in trials that were not timed: of the whole program, and by
//! function. They are never a verdict on time.

use assay_traces::profile::{
    INSTRUCTIONS, InstructionChange, InstructionCounts, Instructions, Profile, ProfileSide,
    functions, instructions,
};
use maud::Markup;

use super::trial_groups::{self, MAX_ROWS, TrialGroup};
use super::view::{TraceDifference, TracerView, TreatmentPair};
use crate::document::{DocumentPart, Parts, Table, TableCell, cell};
use crate::parts::columns::{cells, columns};

pub(super) const VIEW: TracerView = TracerView {
    tab: ("instructions", "Instructions"),
    section: ("counted", "Instructions"),
    run: |view| trial_groups::of_treatments(view, &INSTRUCTIONS, side_by_side),
    runs: |views, shown| trial_groups::of_runs(views, shown, &INSTRUCTIONS, side_by_side),
    difference: Some(("instructions", difference)),
};

/// Renders instruction counts side by side.
fn side_by_side(groups: Vec<TrialGroup<'_, InstructionCounts>>, confidence: f64) -> Option<Markup> {
    trial_groups::tables(
        groups,
        "Instructions of the program and of what it started, counted by Valgrind's callgrind in \
        trials that were not timed. Instructions are not time: a cache miss or a system call takes \
        longer than they show.",
        "counts",
        |a, b, labels| {
            let d = instructions(&profiles(a), &profiles(b), confidence)?;
            Some(changes(&d, labels, MAX_ROWS))
        },
        |of| Parts::from_part(DocumentPart::Table(table(&profiles(of), MAX_ROWS))),
    )
}

fn difference(pair: &TreatmentPair<'_>) -> Option<TraceDifference> {
    let [first, second] = pair.sides.map(|(view, t)| view.traces_of(&INSTRUCTIONS, t));
    let d = instructions(&profiles(&first), &profiles(&second), pair.confidence)?;
    let clear = d.functions.iter().filter(|c| c.clear).count();
    Some(TraceDifference::new(pair, &d, clear, changes))
}

fn profiles<'a>(counts: &[&'a InstructionCounts]) -> Vec<&'a Profile> {
    counts.iter().map(|c| &c.0).collect()
}

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
fn table(counted: &[&Profile], most: usize) -> Table {
    let merged = Profile::merged(counted.iter().copied());
    let n = counted.len().max(1) as f64;
    let total = merged.total_ns(ProfileSide::OnCpu).max(1) as f64;
    let caption = format!("Functions by instructions a trial, {} in all", count(total / n));
    let mut t =
        Table::captioned(caption).number("instructions").number("").label("function").label("in");
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
fn changes(d: &Instructions, labels: [&str; 2], most: usize) -> Parts {
    let mut out = Parts::default();
    let caption =
        format!("Instructions a trial: {} against {}: {}", labels[1], labels[0], d.all.words());
    let mut t = columns(Table::captioned(caption).label("function"), labels, d.confidence);
    let differ = d.functions.iter().filter(|c| c.difference != 0.0).take(most);
    for (c, name) in std::iter::once((&d.all, "all of the program".to_owned()))
        .chain(differ.map(|c| (c, c.function.clone())))
    {
        t.row(row(c, name));
    }
    out.table(t);
    let trials = format!(
        "counted by Valgrind in {} and {} trials that were not timed: a second witness of what the \
         program does, no \
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

fn row(c: &InstructionChange, name: String) -> Vec<TableCell> {
    let [by, interval] = cells(c.difference, c.interval, count);
    vec![
        cell(name),
        cell(count(c.instructions[0])),
        cell(count(c.instructions[1])),
        by,
        interval,
        cell(if c.clear { "yes" } else { "no" }),
    ]
}

//! Findings about several machines that run one trial.

use assay_model::units::format_value;
use assay_model::{FiredCheck, NodeDifference, Observation};

use super::judged::JudgedCheck;
use crate::check::N;
use crate::rows;

/// Maximum number of differences, and of nodes in each, that the message lists.
const SHOWN: usize = 4;

pub(super) fn judge(seen: &Observation) -> JudgedCheck {
    let time = |s: f64| format_value(s, "s");
    match seen {
        Observation::UnlikeNodes { differences } => unlike(differences),
        Observation::Phases {
            begin_spread,
            end_spread,
            error,
            last_to_begin,
            first_to_end,
            common,
            declared,
            bound,
        } => {
            let begins = begin_spread + error > *bound;
            // A program without declared phases ends when its work does; different ends are then a
            // result.
            let ends = *declared && end_spread + error > *bound;
            (begins || ends).then(|| {
                let text = format!(
                    "the steady phases of the nodes begin within {} of each other (last: {last_to_begin}) \
                     and end within {} (first: {first_to_end}), known to {}; the bound is {}, and {:.0} % \
                     of the longest is common to all",
                    time(*begin_spread),
                    time(*end_spread),
                    time(*error),
                    time(*bound),
                    100.0 * common
                );
                (&rows::PHASES_COINCIDE, FiredCheck::new(text))
            })
        }
        Observation::ClockDrift { node, drift, bound } => (drift > bound).then(|| {
            let text = format!(
                "the clock of node {node} moved by {} against the collector's during the trial; the bound \
                 is {}",
                time(*drift),
                time(*bound)
            );
            (&rows::CLOCKS_HOLD, FiredCheck::new(text))
        }),
        Observation::GuestMachine { accelerator, metric, unit, counted } => {
            emulated(accelerator, metric, unit, counted.unwrap_or_else(|| by_unit(unit)))
        }
        _ => None,
    }
}

/// Guesses if a metric is a count from its unit, for records made before a metric could be declared
/// as one.
fn by_unit(unit: &str) -> bool {
    ["1", "B", ""].contains(&unit)
}

fn emulated(accelerator: &str, metric: &str, unit: &str, counted: bool) -> JudgedCheck {
    if accelerator != "tcg" {
        return None;
    }
    let text = "the trial ran in an emulated machine (TCG), whose times are the emulator's: only counts may be compared";
    let found = if counted {
        FiredCheck::new(format!("{text}, and `{metric}` is one")).at(N)
    } else {
        FiredCheck::new(format!("{text}, and `{metric}` ({unit}) is not declared as one"))
    };
    Some((&rows::EMULATED_TIMES, found))
}

fn unlike(differences: &[NodeDifference]) -> JudgedCheck {
    let hard = differences.first()?.hard;
    let shown: Vec<String> = differences
        .iter()
        .take(SHOWN)
        .map(|d| {
            let others = d.others.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let more = if d.others.len() > SHOWN { ", ..." } else { "" };
            format!("{} ({}: {}; {others}{more}: {})", d.path, d.first[0], d.first[1], d.other)
        })
        .collect();
    let more = differences.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let found = FiredCheck::new(format!("the nodes are not alike: {}{rest}", shown.join(", ")));
    Some((&rows::NODES_ALIKE, if hard { found } else { found.at(N) }))
}

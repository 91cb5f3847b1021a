//! F49 to F53: what values are divided by, power, prices, and values beyond what was measured.

use std::collections::BTreeSet;

use super::check::{
    Check, Evaluation, Found, I, Section, W, at, found_or_missing, grave, need, not_applicable,
    plain,
};
use super::{DenominatorEvidence, DenominatorSystem, Evidence, Known, PowerSource};

/// The meter's uncertainty that a published figure per watt may have, percent.
const METER_PERCENT: f64 = 1.0;
/// A meter is calibrated at least so often, days.
const CALIBRATION_DAYS: f64 = 366.0;
/// A model is trusted to this many times the measured range.
const REACH: f64 = 2.0;
/// Denominators that must say what they count.
const COUNTED: [&str; 4] = ["core", "chip", "thread", "memory-channel"];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "F49",
        name: "denominator-defined",
        section: Section::Claims,
        severity: I,
        escalation: "",
        needs: "each system's count of the denominator, and whether it is fitted, enabled or used",
        fires: "the denominator is ambiguous, or a different thing for different systems",
        why: "per core means three things",
        remedy: "say which cores: fitted, enabled or used, the same for all systems",
        source: "SPEC HPG fair use",
        evaluate: defined,
    },
    Check {
        id: "F50",
        name: "ranking-flips",
        section: Section::Claims,
        severity: W,
        escalation: "invalid when it is published without the table over all denominators",
        needs: "every count that is recorded of each system",
        fires: "the order under the claimed denominator reverses under another recorded one",
        why: "who may choose the denominator may choose the winner",
        remedy: "show the table over all recorded denominators, totals first",
        source: "SWaP page of 2005; realworldtech",
        evaluate: flips,
    },
    Check {
        id: "F51",
        name: "power-measured",
        section: Section::Claims,
        severity: I,
        escalation: "",
        needs: "where watts come from, the meter, its uncertainty and calibration, the run and window",
        fires: "per watt of a label or TDP, of another run or window, of mixed sources, or of a meter above 1 %",
        why: "a nameplate is not a measurement, and two meters of two things have no ratio",
        remedy: "measure at the wall in the same run, with a calibrated meter",
        source: "MLPerf power rules; SPECpower methodology",
        evaluate: power,
    },
    Check {
        id: "F52",
        name: "price-basis",
        section: Section::Claims,
        severity: I,
        escalation: "",
        needs: "line items, currency, date, discount, support term, public terms",
        fires: "a price lacks date, scope or public terms, or the scopes differ",
        why: "price without scope is a number somebody chose",
        remedy: "price the same things on the same day at public terms",
        source: "TPC pricing guidelines",
        evaluate: price,
    },
    Check {
        id: "F53",
        name: "projection-marked",
        section: Section::Claims,
        severity: I,
        escalation: "a warning beyond twice the measured range even when modelled and marked",
        needs: "the measured range, the model and its prediction interval",
        fires: "a value outside the range is unmarked, has no interval, or was multiplied up linearly",
        why: "from 8 cores, linear scaling promises two to four times what 64 give",
        remedy: "fit a scaling law, give the prediction interval, and write extrapolated",
        source: "Gunther; SPEC on estimates; simulated",
        evaluate: projection,
    },
];

/// The denominators of a claim.
fn denominators(e: &Evidence) -> Result<&DenominatorEvidence, super::check::Stop> {
    e.denominators.need("what values are divided by")
}

fn defined(e: &Evidence) -> Evaluation {
    let d = denominators(e)?;
    if d.claimed.is_empty() {
        return not_applicable("totals are compared");
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut kinds = BTreeSet::new();
    for s in &d.systems {
        match s.counts.get(&d.claimed) {
            Some(count) if *count > 0.0 => {}
            Some(count) => {
                let text = format!("{} has {count} of `{}`", s.label, d.claimed);
                found.push(plain(text));
            }
            None => lacking.push(format!("the count of `{}` of {}", d.claimed, s.label)),
        }
        if COUNTED.contains(&d.claimed.as_str()) {
            match s.basis.get(&d.claimed) {
                Some(basis) => {
                    kinds.insert(basis.name());
                }
                None => found.push(plain(format!(
                    "per which {} of {}: fitted, enabled or used?",
                    d.claimed, s.label
                ))),
            }
        }
    }
    if kinds.len() > 1 {
        let list: Vec<&str> = kinds.into_iter().collect();
        found.push(plain(format!("per {} means {}", d.claimed, list.join(" for one and "))));
    }
    found_or_missing(found, &lacking)
}

/// value / count; the value itself for the empty denominator.
fn per(s: &DenominatorSystem, by: &str) -> Option<f64> {
    let count = if by.is_empty() { 1.0 } else { *s.counts.get(by)? };
    let value = s.value / count;
    (count > 0.0 && value.is_finite()).then_some(value)
}

/// Whether the first leads, by more than rounding; `None` when it cannot be said.
fn leads(d: &DenominatorEvidence, a: usize, b: usize, by: &str) -> Option<bool> {
    let (x, y) = (per(&d.systems[a], by)?, per(&d.systems[b], by)?);
    let equal = (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
    (!equal).then_some((x > y) == d.higher_is_better)
}

fn flips(e: &Evidence) -> Evaluation {
    let d = denominators(e)?;
    if d.systems.len() < 2 {
        return not_applicable("one system is shown");
    }
    let mut others: BTreeSet<&str> =
        d.systems.iter().flat_map(|s| s.counts.keys().map(String::as_str)).collect();
    others.insert("");
    others.remove(d.claimed.as_str());
    let word = |by: &str| if by.is_empty() { "in total".to_owned() } else { format!("per {by}") };
    for a in 0..d.systems.len() {
        for b in a + 1..d.systems.len() {
            let Some(claimed) = leads(d, a, b, &d.claimed) else { continue };
            let flip = others.iter().find(|by| leads(d, a, b, by) == Some(!claimed));
            if let Some(by) = flip {
                let (first, second) = if claimed { (a, b) } else { (b, a) };
                let text = format!(
                    "{} leads {}; {} leads {}",
                    d.systems[first].label,
                    word(&d.claimed),
                    d.systems[second].label,
                    word(by)
                );
                let shown = *need(d.matrix_shown.as_ref(), "whether all denominators are shown")?;
                return Ok(vec![if shown { plain(text) } else { grave(text) }]);
            }
        }
    }
    if others.len() == 1 && others.contains("") && d.claimed.is_empty() {
        return super::check::missing("any count but the total");
    }
    Ok(Vec::new())
}

fn power(e: &Evidence) -> Evaluation {
    let systems = e.energy.need("where watts come from")?;
    let mut found: Vec<Found> = Vec::new();
    let mut lacking = Vec::new();
    let mut sources = BTreeSet::new();
    for s in systems {
        let source = *need(s.source.as_ref(), format!("where the watts of {} come from", s.label))?;
        sources.insert(source.name());
        if matches!(source, PowerSource::ThermalDesign | PowerSource::Nameplate) {
            found.push(plain(format!("the watts of {} are {}", s.label, source.name())));
            continue;
        }
        let same = [("run", s.same_run), ("window", s.same_window)];
        for (what, same) in same {
            match same {
                Some(false) => found.push(plain(format!(
                    "power and performance of {} are of different {what}s",
                    s.label
                ))),
                Some(true) => {}
                None => lacking.push(format!("whether the {what} of {} is the same", s.label)),
            }
        }
        if source == PowerSource::Wall {
            meter(s, &mut found, &mut lacking);
        }
    }
    if sources.len() > 1 {
        let list: Vec<&str> = sources.into_iter().collect();
        found.push(plain(format!("watts are mixed: {}", list.join(" and "))));
    }
    found_or_missing(found, &lacking)
}

fn meter(s: &super::EnergyEvidence, found: &mut Vec<Found>, lacking: &mut Vec<String>) {
    if s.meter.is_none() {
        lacking.push(format!("the meter of {}", s.label));
    }
    let severity = super::check::WI;
    match s.uncertainty_percent {
        Some(u) if u > METER_PERCENT => found.push(at(
            severity,
            format!("the meter of {} is uncertain by {u} %, more than {METER_PERCENT} %", s.label),
        )),
        Some(_) => {}
        None => lacking.push(format!("the uncertainty of the meter of {}", s.label)),
    }
    match s.calibrated_days_ago {
        Some(days) if days > CALIBRATION_DAYS => found.push(at(
            severity,
            format!("the meter of {} was calibrated {days:.0} days ago", s.label),
        )),
        Some(_) => {}
        None => lacking.push(format!("the calibration of the meter of {}", s.label)),
    }
}

fn price(e: &Evidence) -> Evaluation {
    let prices = e.prices.need("what prices are of")?;
    let mut found = Vec::new();
    for p in prices {
        let absent: Vec<&str> = [
            ("a currency", p.currency.is_some()),
            ("a date", p.date.is_some()),
            ("a scope", p.scope.as_ref().is_some_and(|s| !s.is_empty())),
            ("public terms", p.public_terms == Some(true)),
            ("its discount", p.discount.is_some()),
            ("a support term", p.support_years.is_some()),
        ]
        .into_iter()
        .filter_map(|(what, there)| (!there).then_some(what))
        .collect();
        if !absent.is_empty() {
            found.push(plain(format!("the price of {} lacks {}", p.label, absent.join(", "))));
        }
    }
    if let [first, others @ ..] = prices.as_slice() {
        for p in others {
            let sorted = |s: &Option<Vec<String>>| s.clone().map(|mut s| (s.sort(), s).1);
            let same = [
                ("scopes", sorted(&first.scope) == sorted(&p.scope)),
                ("currencies", first.currency == p.currency),
                ("support terms", first.support_years == p.support_years),
            ];
            for (what, _) in same.iter().filter(|(_, same)| !same) {
                let text =
                    format!("the {what} of the prices of {} and {} differ", first.label, p.label);
                found.push(plain(text));
            }
        }
    }
    Ok(found)
}

fn projection(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("which numbers lie beyond what was measured")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut any = false;
    for n in numbers {
        let x = match &n.extrapolation {
            Known::Absent(_) => continue,
            Known::NotRecorded => {
                lacking.push(format!("whether {} was measured at its size", n.what));
                continue;
            }
            Known::Is(x) => x,
        };
        any = true;
        if x.at <= x.measured_to {
            continue;
        }
        let what = format!("{} at {} is extrapolated from {}", n.what, x.at, x.measured_to);
        if x.linear {
            found.push(plain(format!("{what} by multiplying up")));
        } else if !x.marked {
            found.push(plain(format!("{what} and not marked")));
        } else if x.model.is_none() || x.prediction.is_none() {
            found.push(plain(format!("{what} without a model and its prediction interval")));
        } else if x.at > REACH * x.measured_to {
            found.push(at(W, format!("{what}, more than {REACH} times the measured range")));
        }
    }
    if !any && lacking.is_empty() {
        return not_applicable("every number was measured at its size");
    }
    found_or_missing(found, &lacking)
}

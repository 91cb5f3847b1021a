//! F49 to F53: what values are divided by, power, prices, and values beyond what was measured.

use std::collections::BTreeSet;

use crate::check::{Evaluation, at, found_or_missing, grave, need, not_applicable, plain};
use crate::rows::W;
use crate::{DenominatorEvidence, DenominatorSystem, Evidence, Known, PowerSource};
use assay_model::Found;

/// The meter's uncertainty that a published figure per watt may have, percent.
const METER_PERCENT: f64 = 1.0;
/// A meter is calibrated at least so often, days.
const CALIBRATION_DAYS: f64 = 366.0;
/// A model is trusted to this many times the measured range.
const REACH: f64 = 2.0;
/// Denominators that must say what they count.
const COUNTED: [&str; 4] = ["core", "chip", "thread", "memory-channel"];

/// The denominators of a claim.
fn denominators(e: &Evidence) -> Result<&DenominatorEvidence, crate::check::Stop> {
    e.denominators.need("what values are divided by")
}

pub(crate) fn defined(e: &Evidence) -> Evaluation {
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

pub(crate) fn flips(e: &Evidence) -> Evaluation {
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
        return crate::check::missing("any count but the total");
    }
    Ok(Vec::new())
}

pub(crate) fn power(e: &Evidence) -> Evaluation {
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

fn meter(s: &crate::EnergyEvidence, found: &mut Vec<Found>, lacking: &mut Vec<String>) {
    if s.meter.is_none() {
        lacking.push(format!("the meter of {}", s.label));
    }
    let severity = crate::rows::WI;
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

pub(crate) fn price(e: &Evidence) -> Evaluation {
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

pub(crate) fn projection(e: &Evidence) -> Evaluation {
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

//! F49 to F52: denominators, rankings that flip, power and prices.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Evaluation, at, found_or_missing, missing, not_applicable, plain};
use crate::rows::{N, W, WI};
use crate::{Evidence, PowerSource};
use assay_model::FiredCheck;

/// Maximum uncertainty of the meter behind a published figure per watt, in percent.
const METER_PERCENT: f64 = 1.0;
/// Denominators that must state the basis of their count.
const COUNTED: [&str; 4] = ["core", "chip", "thread", "core-ghz"];

pub(crate) fn defined(e: &Evidence) -> Evaluation {
    let d = e.denominators.need("what values are divided by")?;
    if d.claimed.is_empty() {
        return not_applicable("totals are compared");
    }
    // Watts and prices have checks of their own; their figures are not counts.
    if ["watt", "price"].contains(&d.claimed.as_str()) {
        return not_applicable("watts and prices are not counted");
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut kinds = BTreeSet::new();
    let what = d.claimed.replace('-', " ");
    for s in &d.systems {
        if s.count.is_none() {
            lacking.push(format!("the {what} count of {}", s.label));
            continue;
        }
        if s.inferred {
            let text = format!(
                "the {what} count of {} is not printed but follows from its other numbers",
                s.label
            );
            found.push(at(N, text).remedy(""));
        }
        match s.basis {
            Some(basis) => {
                kinds.insert(basis.name());
            }
            None if COUNTED.contains(&d.claimed.as_str()) => found
                .push(plain(format!("per which {what} of {}: fitted, enabled or used?", s.label))),
            None => {}
        }
    }
    if kinds.len() > 1 {
        let list: Vec<&str> = kinds.into_iter().collect();
        found.push(plain(format!("{} means {}", d.words, list.join(" for one and "))));
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn flips(e: &Evidence) -> Evaluation {
    let d = e.denominators.need("what values are divided by")?;
    let Some(first) = d.flips.first() else {
        return if d.several {
            Ok(Vec::new())
        } else {
            missing("a count of both but the claimed one")
        };
    };
    let same = |f: &&crate::OrderReversal| (&f.ahead, &f.instead) == (&first.ahead, &first.instead);
    let under: Vec<&str> = d.flips.iter().filter(same).map(|f| f.under.as_str()).collect();
    let more = match d.flips.len() - under.len() {
        0 => String::new(),
        1 => "; one more such turn elsewhere".to_owned(),
        n => format!("; {n} more such turns elsewhere"),
    };
    let text = format!(
        "{} is ahead of {} {}, but behind it {}{more}",
        first.ahead,
        first.instead,
        d.words,
        under.join(" and ")
    );
    let show = "show every denominator with the claim (--matrix), or claim no order";
    Ok(vec![if d.matrix_shown { plain(text).remedy("") } else { at(WI, text).remedy(show) }])
}

pub(crate) fn power(e: &Evidence) -> Evaluation {
    let systems = e.energy.need("where watts come from")?;
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    let mut sources: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for s in systems {
        if !s.recorded {
            lacking.push(format!("the watts of {}", s.label));
            continue;
        }
        let note = if s.note.is_empty() { String::new() } else { format!(": {}", s.note) };
        let source = match s.source {
            Some(source) => source,
            None if s.quoted => {
                let text =
                    format!("the watts of {} are quoted, with no meter named{note}", s.label);
                found.push(at(W, text).remedy("state how the power was obtained"));
                continue;
            }
            None => {
                lacking.push(format!("where the watts of {} come from", s.label));
                continue;
            }
        };
        sources.entry(&s.label).or_default().insert(source.name());
        if matches!(source, PowerSource::ThermalDesign | PowerSource::Nameplate) {
            found.push(plain(format!("the watts of {} are {}{note}", s.label, source.name())));
            continue;
        }
        // A quoted result has no evidence on its power beyond the source that its document names.
        if s.quoted {
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
    let all: BTreeSet<&str> = sources.values().flatten().copied().collect();
    if sources.values().any(|own| *own != all) {
        let list: Vec<&str> = all.into_iter().collect();
        found.push(plain(format!("watts are mixed: {}", list.join(" and "))));
    }
    found_or_missing(found, &lacking)
}

fn meter(s: &crate::EnergyEvidence, found: &mut Vec<FiredCheck>, lacking: &mut Vec<String>) {
    if s.meter.is_none() {
        lacking.push(format!("the meter of {}", s.label));
    }
    match s.uncertainty_percent.filter(|u| u.is_finite()) {
        Some(u) if u > METER_PERCENT => found.push(at(
            WI,
            format!("the meter of {} is uncertain by {u} %, more than {METER_PERCENT} %", s.label),
        )),
        Some(_) => {}
        None => lacking.push(format!("the uncertainty of the meter of {}", s.label)),
    }
}

pub(crate) fn price(e: &Evidence) -> Evaluation {
    let (prices, absent): (Vec<_>, Vec<_>) =
        e.prices.need("what prices are of")?.iter().partition(|p| p.recorded);
    let mut found = Vec::new();
    let lacking: Vec<String> = absent.iter().map(|p| format!("the price of {}", p.label)).collect();
    for p in &prices {
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
    found_or_missing(found, &lacking)
}

//! F11 to F15: all treatments ran on an equally quiet and stable machine, with a clock that is good
//! enough.

use assay_model::{FiredCheck, Verdict};

use super::environment::same_for_all;
use crate::check::{Evaluation, found_or_missing, grave, missing, need, not_applicable, plain};
use crate::{Evidence, FactsAfterTrials, TreatmentEvidence};

/// Limits of a quiet host: runnable tasks of other programs per CPU, steal and pressure.
const QUEUE: f64 = 0.05;
const STEAL_PERCENT: f64 = 0.5;
const PRESSURE_PERCENT: f64 = 1.0;
/// Relative difference of clock frequencies above which treatments get a finding.
const FREQUENCY: f64 = 0.01;
/// Effect below which memory layout may explain it, and the number of layouts needed then.
const LAYOUT_EFFECT: f64 = 0.05;
const LAYOUTS: u32 = 5;
/// Share of the clock in a timing that gives a finding, and the share that voids the timing.
const CLOCK_SHARE: f64 = 0.01;
const CLOCK_SHARE_GRAVE: f64 = 0.10;

pub(crate) fn quiet_host(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut busy: Vec<(&str, String)> = Vec::new();
    let mut lacking = Vec::new();
    for treatment in treatments {
        let host =
            need(treatment.host.as_ref(), format!("what else ran beside {}", treatment.label))?;
        let seen = [
            ("tasks of others per CPU", "", host.queue_per_cpu, QUEUE),
            ("stolen time", " %", host.steal_percent, STEAL_PERCENT),
            ("pressure", " %", host.pressure_percent, PRESSURE_PERCENT),
        ];
        let above: Vec<String> = seen
            .iter()
            .filter_map(|(what, unit, value, most)| {
                value.filter(|v| v > most).map(|v| format!("{what} {v:.2}{unit}"))
            })
            .collect();
        if !above.is_empty() {
            busy.push((&treatment.label, above.join(", ")));
        }
        let absent = seen.iter().filter(|(_, _, value, _)| value.is_none());
        lacking.extend(absent.map(|(what, ..)| format!("{what} beside {}", treatment.label)));
    }
    let all = busy.len() == treatments.len();
    let found = busy
        .into_iter()
        .map(|(label, what)| {
            let message = format!("{label} ran on a loaded machine: {what}");
            if all { plain(message) } else { grave(message) }
        })
        .collect();
    found_or_missing(found, &lacking)
}

pub(crate) fn clock_and_heat(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let clock = |treatment: &TreatmentEvidence| treatment.clock.unwrap_or_default();
    let meant = ["cpu.frequency", "cpu.model", "cpu.governor", "cpu.turbo", "frequency"]
        .iter()
        .any(|f| e.declares(f));
    for treatment in treatments {
        match (clock(&treatments[0]).ghz, clock(treatment).ghz) {
            (Some(a), Some(b)) if !meant && (a / b - 1.0).abs() > FREQUENCY => {
                found.push(plain(format!(
                    "{} ran at {a:.2} GHz, {} at {b:.2} GHz",
                    treatments[0].label, treatment.label
                )));
            }
            (Some(_), Some(_)) => {}
            _ => lacking.push(format!("the frequency during {}", treatment.label)),
        }
        if clock(treatment).throttles.is_none() {
            lacking.push(format!("the throttling during {}", treatment.label));
        }
    }
    let throttled =
        |treatment: &&TreatmentEvidence| clock(treatment).throttles.is_some_and(|t| t > 0);
    let hit: Vec<&str> = treatments.iter().filter(throttled).map(|a| a.label.as_str()).collect();
    let spared = treatments.iter().filter(|a| clock(a).throttles == Some(0)).count();
    if !hit.is_empty() && spared > 0 {
        found.push(grave(format!("only {} ran throttled", hit.join(", "))));
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn stable(e: &Evidence) -> Evaluation {
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    for treatment in e.measured()? {
        let snapshots =
            need(treatment.snapshots.as_ref(), format!("the system of {}", treatment.label))?;
        match &snapshots.after {
            FactsAfterTrials::NotTaken => {
                lacking.push(format!("the system after {}", treatment.label));
            }
            FactsAfterTrials::Same => {}
            FactsAfterTrials::Changed(paths) => {
                let list: Vec<&str> = paths.keys().map(String::as_str).collect();
                let list = super::environment::shortened(&list);
                found.push(plain(format!("{list} changed during the run")));
            }
        }
        if snapshots.boots.len() > 1 {
            found.push(plain(format!("the machine was rebooted during {}", treatment.label)));
        }
    }
    found_or_missing(same_for_all(found, e.treatments.len()), &lacking)
}

pub(crate) fn layout(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let comparisons = e.comparisons.need("the size of the effect")?;
    let claimed = e.claim.get().and_then(|c| c.ratio);
    let says = |v: Option<Verdict>| v.is_none_or(|v| matches!(v, Verdict::Better | Verdict::Worse));
    let effects = comparisons.iter().filter(|c| says(c.verdict)).map(|c| c.ratio);
    let effects: Vec<Option<f64>> = effects.chain(claimed.map(Some)).collect();
    if effects.is_empty() {
        return not_applicable("no effect is claimed");
    }
    let Some(effect) = effects.iter().flatten().map(|r| r.ln().abs()).reduce(f64::min) else {
        return missing("the size of the effect");
    };
    if effect >= LAYOUT_EFFECT.ln_1p() {
        return Ok(Vec::new());
    }
    for treatment in treatments {
        let layouts = *need(
            treatment.layouts.as_ref(),
            format!("the layouts that {} sampled", treatment.label),
        )?;
        if layouts < LAYOUTS {
            let s = if layouts == 1 { "" } else { "s" };
            return Ok(vec![plain(format!(
                "an effect of {:.1} % is within known layout bias, and {} sampled {layouts} layout{s}",
                (effect.exp() - 1.0) * 100.0,
                treatment.label
            ))]);
        }
    }
    Ok(Vec::new())
}

pub(crate) fn timer(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for treatment in e.measured()? {
        let timing =
            need(treatment.timing.as_ref(), format!("what was timed in {}", treatment.label))?;
        let (Some(sample), Some(resolution), Some(overhead)) =
            (timing.sample_s, timing.resolution_s, timing.overhead_s)
        else {
            lacking.push(format!(
                "what was timed in {}, and the clock's resolution and cost",
                treatment.label
            ));
            continue;
        };
        let share = (resolution + overhead) / sample;
        let text = format!(
            "the clock is {:.1} % of the timings of {} ({})",
            share * 100.0,
            treatment.label,
            assay_model::units::format_value(sample, "s")
        );
        // For a timing of 0 or less the share is not finite: the clock is all that was measured.
        if !share.is_finite() || share > CLOCK_SHARE_GRAVE {
            found.push(grave(text));
        } else if share > CLOCK_SHARE {
            found.push(plain(text));
        }
        if let Some(minimum) = timing.min_window_s {
            match timing.window_s {
                Some(window) if window < minimum => found.push(grave(format!(
                    "{} was measured for {window:.1} s; the benchmark asks for {minimum:.1} s",
                    treatment.label
                ))),
                Some(_) => {}
                None => lacking.push(format!("the window of {}", treatment.label)),
            }
        }
    }
    found_or_missing(found, &lacking)
}

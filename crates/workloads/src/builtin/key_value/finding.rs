//! Trials that consist of several runs: the search for the highest rate within a latency bound, and
//! the saturation curve over the rate.

use assay_loadgen::config::{Config, Mode, Think};
use assay_loadgen::{LoadReport, RatePoint, SearchBound, search_max};
use assay_model::{Phase, units};

use super::{diagnostics, results};
use crate::Failure;
use crate::builtin::key_value::answers::wrong_words;
use crate::builtin::key_value::params::{KeyValueParams, LoadParams};
use crate::builtin::key_value::trial::TrialState;
use crate::driver::response_times;

fn ops(rate: f64) -> String {
    units::format_value(rate, "ops/s")
}

/// Maximum number of search steps whose wrong answers are reported.
const MAX_REPORTED: usize = 3;

/// Describes the wrong answers of a search step, or returns `None` if there were none. Missing
/// answers only mean that the rate was too high. A wrong answer is the server's fault, and makes
/// any rate that it is reported with invalid.
fn wrong_answers(step: u32, point: &RatePoint, max_errors: f64) -> Option<String> {
    let words = wrong_words(&point.errors, point.answered, max_errors)?;
    Some(format!("step {step} at {}: {words}", ops(point.rate)))
}

/// Searches for the highest rate whose quantile stays within the bound, then measures that rate
/// once more; the trial's metrics come from this last run.
///
/// # Errors
/// Fails if no rate meets the bound or a run fails.
pub fn max_rate(stage: &mut TrialState<'_>, params: &KeyValueParams) -> Result<(), Failure> {
    let LoadParams { bound, quantile, precision, .. } = **params;
    let limit_ns = bound.as_nanos() as u64;
    let search = SearchBound { quantile, limit_ns, precision, ..SearchBound::default() };
    let share = format!("{} %", (quantile * 1e6).round() / 1e4);
    let promise = format!("{share} of the response times within {}", units::format_duration(bound));
    let mut steps = 0;
    let channel = &mut *stage.channel;
    let (errors, wrong, max_errors) = (&mut stage.errors, &mut stage.wrong, stage.max_errors);
    let answered = &mut stage.answered;
    let found = search_max(&stage.config, search, stage.stop, |point, kept| {
        steps += 1;
        errors.add(point.errors.clone());
        *answered += point.answered;
        if wrong.len() < MAX_REPORTED {
            wrong.extend(wrong_answers(steps, point, max_errors));
        }
        let progress = f64::from(steps) / f64::from(search.most_steps + 1);
        channel.progress(progress);
        let within = point.bound_ns.map_or(String::new(), |ns| {
            let time = units::format_value(ns as f64 * 1e-9, "s");
            format!(" {share} of the response times were within {time}")
        });
        channel.note(format!(
            "step {steps}: at {}{within}: {}",
            ops(point.rate),
            match (kept, point.kept, point.errors.total()) {
                (true, ..) => "kept".to_owned(),
                (false, true, _) => "too long".to_owned(),
                (false, false, 0) => "the rate was not held".to_owned(),
                (false, false, n) => format!("{n} wrong or missing answers"),
            }
        ));
    })?;
    if stage.stopped() {
        return Err(Failure::Stopped);
    }
    let answer = response_times::answer(&found, &promise, "ops/s");
    let Some(best) = found.best else {
        // If no rate was accepted because answers were wrong, the verdict reports it.
        if !stage.wrong.is_empty() {
            return Ok(());
        }
        return Err(Failure::Other(answer));
    };
    stage.channel.note(answer);
    stage.config = stage.config.at_rate(best.rate);
    stage.throughput()?;
    stage.channel.metrics((stage.dialect.spec)(), [("max_rate", Some(best.rate))]);
    Ok(())
}

/// Measures at each of `rates`. If `rates` is empty, measures at `steps` evenly spaced rates up to
/// 1.1 times the throughput of a closed loop.
///
/// # Errors
/// Fails if a run fails.
pub fn saturation(stage: &mut TrialState<'_>, rates: &[f64], steps: u32) -> Result<(), Failure> {
    stage.channel.phase(Phase::Steady, None);
    let mut rates = rates.to_vec();
    if rates.is_empty() {
        let closed = Config { mode: Mode::Closed { think: Think::None }, ..stage.config.clone() };
        let (report, _) = stage.measure(&closed, false)?;
        let most = report.throughput().filter(|t| *t > 0.0).ok_or_else(|| {
            Failure::Other("the closed loop that determines the rates got no answer".into())
        })?;
        stage.channel.note(format!(
            "a closed loop reaches {}; the rates go up to 1.1 times that",
            ops(most)
        ));
        rates =
            (1..=steps).map(|i| (1.1 * most * f64::from(i) / f64::from(steps)).round()).collect();
    }
    rates.sort_by(f64::total_cmp);
    let mut best: Option<(f64, LoadReport, Option<f64>)> = None;
    for (i, rate) in rates.iter().enumerate() {
        let config = stage.config.at_rate(*rate);
        let (report, seen) = stage.measure(&config, false)?;
        results::point(*rate, &report, &config, stage.channel);
        stage.channel.progress((i + 1) as f64 / rates.len() as f64);
        let throughput = report.throughput().unwrap_or(0.0);
        if best.as_ref().is_none_or(|(most, ..)| throughput > *most) {
            best = Some((throughput, report, seen.others_busy(stage.dialect)));
        }
    }
    stage.channel.phase(Phase::RampDown, None);
    if let Some((throughput, report, others_busy)) = best {
        let server = report.limit.server;
        let metrics = [
            ("throughput", Some(throughput).filter(|t| *t > 0.0)),
            ("client_busy", report.limit.generator_busy),
            ("server_busy", server.map(|used| used.busiest)),
            ("server_cpus", server.map(|used| used.cpus)),
        ];
        stage.channel.metrics((stage.dialect.spec)(), metrics);
        let limit = diagnostics::judged(&report.limit, stage.server_cpus);
        stage.channel.evidence(diagnostics::limiter(&limit, others_busy));
        stage.channel.note(format!("at the highest throughput: {}", limit.reasons.join("; ")));
    }
    stage.channel.metrics((stage.dialect.spec)(), results::failures(&stage.errors, stage.answered));
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_loadgen::ErrorKind;
    use assay_loadgen::latency::report::Errors;

    use super::*;

    #[test]
    fn a_wrong_answer_in_a_step_is_reported_and_a_late_one_is_not() {
        let step = |kinds: &[(ErrorKind, u64)]| {
            let mut errors = Errors::default();
            for (kind, n) in kinds {
                errors.counts[*kind as usize] = *n;
                errors.texts.push((*kind, format!("the first of {}", kind.name())));
            }
            let point =
                RatePoint { rate: 12_000.0, bound_ns: None, kept: false, answered: 9, errors };
            wrong_answers(3, &point, 0.0)
        };
        assert_eq!(step(&[]), None);
        assert_eq!(step(&[(ErrorKind::TimedOut, 40)]), None);
        let words = step(&[(ErrorKind::TimedOut, 40), (ErrorKind::WrongContent, 2)]).unwrap();
        assert!(words.starts_with("step 3 at 12.00 kops/s: 2 wrong content"), "{words}");
        assert!(words.contains("the first of wrong content"), "{words}");
    }
}

//! Results of a trial, as events.

use assay_model::Observation;

use crate::builtin::startup::series::{ActivityPoint, ActivitySeries};
use crate::builtin::startup::solver::NoAnswer;
use crate::builtin::startup::trial::StartupTrial;
use crate::driver::work::{Channel, Curve};

/// Sends metrics, curves and series.
pub fn report(ran: &StartupTrial, channel: &mut Channel) {
    let copies = &ran.measured.copies;
    let start = ran.measured.start_ns;
    let end = copies.iter().map(|c| c.end_ns).max().unwrap_or(start);
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let series = ActivitySeries::new(&ran.looks, start, end);
    let window = ran.params.window;
    let to_user = series.time_to_user(window.as_nanos() as u64, ran.params.user);
    let read = series.read().map(|b| b as f64);
    let done = series.read_done();
    let logical = ran.logical as f64;
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let began = || copies.iter().map(|c| c.began_ns);
    let spread = began().max().zip(began().min()).map(|(last, first)| seconds(last - first));
    let peak = copies.iter().map(|c| c.used.peak_memory_bytes).max();
    let metrics = [
        ("time_to_user", to_user),
        ("elapsed", Some(seconds(end - start))),
        ("read_done", done),
        ("device_read", read),
        ("logical_read", Some(logical)),
        ("read_saved", read.map(|r| 100.0 * (1.0 - r / logical))),
        ("device_read_rate", read.zip(done).filter(|(_, t)| *t > 0.0).map(|(r, t)| r / t)),
        ("host_system", series.host_system().map(|t| t as f64 / ticks)),
        ("user", Some(copies.iter().map(|c| c.used.user_s).sum())),
        ("system", Some(copies.iter().map(|c| c.used.system_s).sum())),
        ("peak_memory", peak.map(|b| b as f64)),
        ("start_spread", spread),
    ];
    channel.metrics(crate::builtin::startup::spec(), metrics);
    for point in series.points() {
        at(&point, channel);
    }
    let (count, cpus) = (ran.params.copies as u32, ran.cpus as u32);
    channel.evidence(Observation::Crowding { what: "copies".into(), count, cpus });
    if let Some(share) = series.others(copies.iter().map(|c| c.used.user_s).sum()) {
        channel.evidence(Observation::OthersComputed { metric: "time_to_user".into(), share });
    }
    channel.notes(notes(ran, to_user, read));
}

/// Series that are also curves, with a line for each treatment. Means of curves are geometric, so
/// values that are often zero are only a series.
const CURVES: [&str; 2] = ["cpu_user", "device_read_rate"];

/// Sends a point of the series, and of the curves of the same names.
fn at(point: &ActivityPoint, channel: &mut Channel) {
    let values = [
        ("cpu_user", Some(point.user), "%"),
        ("cpu_system", Some(point.system), "%"),
        ("cpu_idle", Some(point.idle), "%"),
        ("device_read_rate", point.rate, "B/s"),
    ];
    for (name, value, unit) in values {
        channel.sample(name, point.t_ns, value, unit);
        let Some(value) = value.filter(|v| *v > 0.0 && CURVES.contains(&name)) else { continue };
        let curve = Curve { name, unit, x_name: "time", x_unit: "s", kind: None };
        channel.points(&curve, [[point.x_s, value]]);
    }
}

fn notes(ran: &StartupTrial, to_user: Option<f64>, read: Option<f64>) -> Vec<String> {
    let params = &ran.params;
    let mut notes = vec![format!(
        "the model: {} rows, {} columns, optimum {}",
        params.model().rows(),
        params.model().columns(),
        params.model().optimum()
    )];
    if to_user.is_none() {
        let few = if params.copies < ran.cpus {
            format!("; {} copies cannot keep {} CPUs busy", params.copies, ran.cpus)
        } else {
            String::new()
        };
        notes.push(format!(
            "in no window of {} were the CPUs in user mode for {} of the time{few}",
            assay_model::units::format_duration(params.window),
            params.user
        ));
    }
    let devices = ran.host.devices();
    notes.push(match read {
        Some(_) => format!("bytes are those read from {}", devices.join(", ")),
        None if devices.is_empty() => {
            "the storage has no block device of its own: what was read from one is unknown"
                .to_owned()
        }
        None => {
            format!("the kernel does not list {}: what was read is unknown", devices.join(", "))
        }
    });
    notes
}

/// Reports whether every copy found the optimum.
pub fn verdict(answers: &[Result<f64, NoAnswer>], optimum: f64, same: f64, channel: &mut Channel) {
    let wrong: Vec<String> = answers
        .iter()
        .enumerate()
        .filter_map(|(i, answer)| match answer {
            Ok(found) if ((found - optimum) / optimum).abs() <= same => None,
            Ok(found) => Some(format!("copy {} found {found} and the optimum is {optimum}", i + 1)),
            Err(why) => Some(format!("copy {} {why}", i + 1)),
        })
        .collect();
    let well = format!(
        "each of {} copies found the optimum {optimum}, which is known from how the model is made",
        answers.len()
    );
    channel.evidence(Observation::Work {
        operations: answers.len() as u64,
        errors: wrong.len() as u64,
        what: "solutions".into(),
        seed: None,
        mix: String::new(),
    });
    channel.verdict(&wrong, well);
}

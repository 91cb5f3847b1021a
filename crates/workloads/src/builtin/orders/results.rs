//! Results of a trial, as events and as files that are kept with it.

use std::fmt::Write as _;
use std::path::Path;

use assay_model::{Observation, Phase};
use serde_json::{Value, json};

use crate::WorkloadError;
use crate::builtin::orders::SCORE;
use crate::builtin::orders::instance::InstanceResult;
use crate::builtin::orders::params::OrdersParams;
use crate::builtin::orders::result::{MeasuredPoint, Points};
use crate::driver::work::{Channel, Curve};

/// Bin width of the kit's series over time, ns.
const BIN: u64 = 1_000_000_000;

/// Sends a measured point of the curve over the warehouses.
pub fn curve(measured: &MeasuredPoint, channel: &mut Channel) {
    let curve = Curve { name: SCORE, unit: SCORE, x_name: "warehouses", x_unit: "1", kind: None };
    channel.points(&curve, [[f64::from(measured.planned.warehouses), measured.total()]]);
}

/// Sends the throughput over the time of a measured point.
pub fn series(measured: &MeasuredPoint, channel: &mut Channel) {
    let window = &measured.window;
    let whole = ((window.stop - window.begin) / BIN) as usize;
    for i in 0..whole {
        let count: u64 = measured.instances.iter().filter_map(|p| p.bins.get(i)).sum();
        let value = Some(count as f64 / (BIN as f64 * 1e-9));
        let t_ns = window.begin + (i as u64 + 1) * BIN;
        channel.sample(SCORE, t_ns, value, SCORE);
    }
}

/// Sends the phases: the scored points are the steady phase.
pub fn phases(points: &Points, channel: &mut Channel) {
    let (first, last) = (points.scored().next(), points.scored().last());
    if let (Some(first), Some(last)) = (first, last) {
        channel.phase(Phase::Steady, Some(first.window.start));
        channel.phase(Phase::RampDown, Some(last.window.end));
    }
}

pub fn metrics(points: &Points, params: &OrdersParams, busy: Option<f64>, channel: &mut Channel) {
    let instances = params.instances as f64;
    let score = points.score();
    let scored = || points.scored().flat_map(|m| &m.instances);
    let all = || points.all.iter().flat_map(|m| &m.instances);
    let most = |values: &mut dyn Iterator<Item = f64>| values.max_by(f64::total_cmp);
    let orders = || scored().filter_map(|p| p.kinds.get("new-order"));
    let (count, total): (u64, u64) =
        orders().fold((0, 0), |(c, t), k| (c + k.number, t + k.total_ns));
    let time: f64 =
        points.scored().map(|m| (m.window.stop - m.window.begin) as f64 * 1e-9).sum::<f64>()
            * instances;
    let collecting: u64 = scored().map(|p| p.collection_ms).sum();
    let last = points.all.last().map_or(&[][..], |m| &m.memory);
    let known: Option<Vec<_>> = last.iter().copied().collect();
    let huge = known.as_ref().and_then(|list| {
        let huge: u64 = list.iter().map(|m| m.huge).sum::<Option<u64>>()?;
        let resident: u64 = list.iter().map(|m| m.resident).sum();
        (resident > 0).then(|| huge as f64 / resident as f64)
    });
    let rows = [
        (SCORE, score),
        ("orders/s per instance", score.map(|s| s / instances)),
        ("response_mean", (count > 0).then(|| total as f64 * 1e-9 / count as f64)),
        ("collection_share", (time > 0.0).then(|| collecting as f64 * 1e-3 / time)),
        ("heap_used", most(&mut all().map(|p| p.heap_used as f64))),
        ("resident", known.map(|list| list.iter().map(|m| m.peak).sum::<u64>() as f64)),
        ("huge_share", huge),
        ("thread_spread", most(&mut scored().filter_map(InstanceResult::spread))),
        ("start_spread", most(&mut points.all.iter().map(|m| m.apart(|p| p.began_ns)))),
        ("stop_spread", most(&mut points.all.iter().map(|m| m.apart(|p| p.ended_ns)))),
        ("controller_busy", busy),
    ];
    channel.evidence(Observation::Work {
        operations: scored().flat_map(|p| p.kinds.values()).map(|k| k.number).sum(),
        errors: points.all.iter().flat_map(MeasuredPoint::wrong).count() as u64,
        what: "transactions".into(),
        seed: Some(params.seed),
        mix: params.mix.clone(),
    });
    channel.metrics(crate::builtin::orders::spec(), rows);
    if !params.under_rate() {
        let closed = [
            ("peak", points.best().map(MeasuredPoint::total)),
            ("peak_warehouses", points.best().map(|m| f64::from(m.planned.warehouses))),
            ("response_max", most(&mut scored().map(InstanceResult::longest_s))),
            ("pause", points.pause()),
        ];
        channel.metrics(crate::builtin::orders::spec(), closed);
    }
    if let ("reserved", Some(share)) = (params.pages.as_str(), huge) {
        let asked = "pages = \"reserved\"".into();
        channel.evidence(Observation::HugePagesAsked { asked, share });
    }
}

/// Name of the result file that the rule pack judges.
pub const RESULT: &str = "result.json";

/// Writes the files that are kept with the trial: `result.json` for the rule pack, `points.json`
/// with all reports of the instances, and `memory.csv`.
///
/// # Errors
/// Fails if a file cannot be written.
pub fn files(dir: &Path, points: &Points, result: Option<&Value>) -> Result<(), WorkloadError> {
    let write = |name: &str, text: String| {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(WorkloadError::io("write", &path))
    };
    if let Some(result) = result {
        write(RESULT, format!("{result:#}\n"))?;
    }
    let all: Vec<Value> = points.all.iter().map(spelled).collect();
    write("points.json", format!("{}\n", json!(all)))?;
    let mut table = String::from(
        "warehouses,instance,heap_used_bytes,heap_committed_bytes,resident_bytes,\
        resident_peak_bytes,huge_bytes\n",
    );
    for m in &points.all {
        for (i, (p, memory)) in m.instances.iter().zip(&m.memory).enumerate() {
            let cell = |value: Option<u64>| value.map_or(String::new(), |v| v.to_string());
            let _ = writeln!(
                table,
                "{},{},{},{},{},{},{}",
                m.planned.warehouses,
                i + 1,
                p.heap_used,
                p.heap_committed,
                cell(memory.map(|m| m.resident)),
                cell(memory.map(|m| m.peak)),
                cell(memory.and_then(|m| m.huge)),
            );
        }
    }
    write("memory.csv", table)
}

fn spelled(m: &MeasuredPoint) -> Value {
    let w = &m.window;
    json!({
        "warehouses": m.planned.warehouses, "rate": m.planned.rate, "scored": m.planned.scored,
        "begin_ns": w.begin,
        "start_ns": w.start, "end_ns": w.end, "stop_ns": w.stop, "instances": m.instances,
    })
}

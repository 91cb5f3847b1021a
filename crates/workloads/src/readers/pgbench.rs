//! Summary that pgbench prints at its end.

use assay_model::Better::{Higher, Lower, Neither};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |l| l.starts_with("number of transactions actually processed: "))
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("pgbench", "pgbench");
    let (mut values, mut clients, mut latency, mut throttled) = (Vec::new(), None, None, false);
    let (mut counted, mut connecting) = (Figures::default(), 0.0);
    for (at, line) in lines(&text) {
        let pair = line.split_once(" = ").or_else(|| line.split_once(": "));
        let Some((name, value)) = pair else { continue };
        let read = || {
            let word = value.split(" (").next().unwrap_or_default();
            quantity(word).ok_or_else(|| Flaw::line(at, format!("`{value}` is not a number")))
        };
        match name {
            "number of clients" => clients = number(value),
            "rate limit schedule lag" => throttled = true,
            "duration" => counted.seconds = Some(read()?.0),
            "number of transactions actually processed" => counted.count = number(value),
            "latency average" => {
                latency = Some(read()?.0);
                values.push(("latency.mean", latency, "s", Lower));
            }
            "latency stddev" => values.push(("latency.stddev", Some(read()?.0), "s", Lower)),
            "number of failed transactions" => values.push(("failed", Some(read()?.0), "1", Lower)),
            "initial connection time" => {
                connecting = read()?.0;
                values.push(("connection_time", Some(connecting), "s", Neither));
            }
            // Before version 14 there were two lines; the one without connections counts.
            "tps" if !value.contains("(including connections") => {
                values.insert(0, ("throughput", Some(read()?.0), "transactions/s", Higher));
            }
            _ => {}
        }
    }
    let rate = values.first().filter(|v| v.0 == "throughput").and_then(|v| v.1);
    if rate.is_none() {
        return Err(Flaw::whole("it has no line `tps = ...`, so pgbench did not end normally"));
    }
    // Each client waits for its transaction, so the rate follows from the mean latency.
    let figures = Figures {
        rate: rate.filter(|_| !throttled),
        count: clients,
        seconds: latency,
        // The latency is printed to a microsecond.
        resolution: rate.zip(latency).map_or(0.0, |(rate, s)| rate * 1e-6 / s.max(1e-6)),
        ..Figures::default()
    };
    // Connecting takes a part of the duration, and the last transactions end after it.
    let beyond = 10.0 * latency.unwrap_or(0.0) + connecting;
    counted.rate = rate;
    counted.resolution = counted.seconds.zip(rate).map_or(0.0, |(s, r)| r * beyond / s.max(1e-6));
    let trial = suite.add("", &values)?;
    trial.hold(&["throughput", "latency"], &figures);
    trial.hold(&["throughput"], &counted);
    suite.finish("give the output of pgbench")
}

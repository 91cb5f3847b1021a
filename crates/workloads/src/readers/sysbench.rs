//! Summary that sysbench 1.0 prints at its end.

use assay_model::Better::{Higher, Lower, Neither};

use crate::readers::prelude::*;
use crate::readers::result::suite::SuiteValue;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| line.starts_with("sysbench 1."))
}

/// Returns the first number of `1234 (61.6 per sec.)`, or the one in its parentheses.
fn figure(text: &str, in_parentheses: bool) -> Option<f64> {
    let (before, inside) = text.split_once('(').unwrap_or((text, ""));
    let part = if in_parentheses { inside } else { before };
    let mut words = part.split_ascii_whitespace();
    let first = number(words.next()?.trim_end_matches('s'));
    // A number may not go on behind a blank.
    first.filter(|_| !words.next().is_some_and(|w| w.starts_with(|c: char| c.is_numeric())))
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("sysbench", "sysbench");
    let mut latency = Figures::default();
    let (mut in_latency, mut first) = (false, None::<SuiteValue<'_>>);
    let (mut others, mut events, mut seconds) = (Vec::<SuiteValue<'_>>::new(), None, None);
    for (at, line) in lines(&text) {
        if line.starts_with("sysbench 1.") {
            suite.result().version = line.split_ascii_whitespace().nth(1).map(str::to_owned);
        }
        let bad = || Flaw::line(at, format!("`{}` has no number", line.trim()));
        if !line.starts_with(' ') && !line.is_empty() {
            in_latency = line.starts_with("Latency (ms):");
            if in_latency {
                continue;
            }
        }
        if line.contains(" transferred (") {
            let rate = line.split_once('(').map_or("", |p| p.1).trim_end_matches(')');
            let (rate, unit) = quantity(&rate.replace("MiB/sec", "MiB/s")).ok_or_else(bad)?;
            debug_assert_eq!(unit, "B/s");
            first = Some(("throughput", Some(rate), "B/s", Higher));
            continue;
        }
        let Some((name, value)) = line.trim().split_once(':') else { continue };
        let value = value.trim();
        let plain = || figure(value, false).ok_or_else(bad);
        let rate = || figure(value, true).ok_or_else(bad);
        if in_latency {
            let seconds = Some(plain()? / 1e3);
            match name {
                "min" => latency.min = seconds,
                "avg" => latency.mean = seconds,
                "max" => latency.max = seconds,
                _ => latency
                    .percentiles
                    .extend(name.strip_suffix("th percentile").and_then(number).zip(seconds)),
            }
            continue;
        }
        match name {
            "events per second" => {
                first.get_or_insert(("throughput", Some(plain()?), "events/s", Higher));
            }
            "transactions" => {
                first = Some(("throughput", Some(rate()?), "transactions/s", Higher));
            }
            "queries" => others.push(("queries", Some(rate()?), "queries/s", Higher)),
            "ignored errors" => others.push(("errors", Some(plain()?), "1", Lower)),
            "read, MiB/s" | "written, MiB/s" => {
                let name = if name.starts_with("read") { "read" } else { "written" };
                others.push((name, Some(plain()? * 1_048_576.0), "B/s", Higher));
            }
            "total time" => seconds = Some(quantity(value).ok_or_else(bad)?.0),
            "total number of events" => events = Some(number(value).ok_or_else(bad)?),
            _ => {}
        }
    }
    let computed = events.zip(seconds.filter(|s| *s > 0.0)).map(|(n, s): (f64, f64)| n / s);
    if events == Some(0.0) {
        // Without an event the latencies are printed as 0.
        latency = Figures::default();
    }
    let Some(first) = first.or(computed.map(|r| ("throughput", Some(r), "events/s", Higher)))
    else {
        return Err(Flaw::whole("it has no result, so sysbench did not end normally"));
    };
    let mut values = vec![first];
    values.extend(others);
    let figures = [
        ("latency.mean", latency.mean),
        ("latency.min", latency.min),
        ("latency.max", latency.max),
    ];
    values.extend(figures.map(|(name, value)| (name, value, "s", Lower)));
    let percentile = latency.percentiles.first().map(|(p, v)| (format!("latency.p{p}"), *v));
    values.extend(percentile.iter().map(|(name, v)| (name.as_str(), Some(*v), "s", Lower)));
    values.extend(events.map(|n| ("events", Some(n), "1", Neither)));
    // Latencies are printed to 0.01 ms.
    let latency = Figures { resolution: 1e-5, ..latency };
    let rate = Figures {
        rate: first.1.filter(|_| matches!(first.2, "events/s" | "transactions/s")),
        count: events,
        seconds,
        ..Figures::default()
    };
    let trial = suite.add("", &values)?;
    trial.hold(&["latency"], &latency);
    trial.hold(&["throughput"], &rate);
    suite.finish("give the output of `sysbench ... run`")
}

//! What tools print that measure a program or a system: perf stat, the shells' `time`, GNU time, dd, iperf3 and ping.

use super::{
    Above, Found, Value, across, clock, is_number, is_value, printed, statistic, with_unit,
};
use crate::evidence::amount;

pub(super) fn read(above: &mut Above, text: &str, body: &str) -> Option<Found> {
    if let Some(rest) = body.strip_prefix("Performance counter stats for ") {
        above.counters = true;
        let command = rest.rsplit_once(" (").filter(|(_, n)| n.contains("runs"));
        let command = command.map_or(rest, |(command, _)| command).trim_end_matches(':');
        return Some(Found::Name(command.trim_matches(['\'', '"', ' ']).to_owned()));
    }
    if let Some(command) = body.strip_prefix("Command being timed: ") {
        return Some(Found::Name(command.trim_matches('"').to_owned()));
    }
    if let Some(host) =
        body.strip_prefix("--- ").and_then(|r| r.strip_suffix(" ping statistics ---"))
    {
        return Some(Found::Name(host.to_owned()));
    }
    let values = elapsed(above, text, body)
        .or_else(|| above.counters.then(|| counter(text, body)).flatten())
        .or_else(|| times(text, body))
        .or_else(|| unit_in_name(text, body))
        .or_else(|| copied(text, body))
        .or_else(|| timeit(text, body))
        .or_else(|| cyclictest(text, body))
        .or_else(|| iperf(above, text, body))
        .or_else(|| ping(text, body))?;
    Some(if values.is_empty() { Found::Part } else { Found::Values(values) })
}

/// `4.8171 +- 0.0150 seconds time elapsed  ( +-  0.31% )`, `4.80 seconds user`.
fn elapsed(above: &Above, text: &str, body: &str) -> Option<Vec<Value>> {
    let (value, rest) = body.split_once(" seconds ")?;
    let name = rest.split('(').next().unwrap_or("").trim();
    let name = match name {
        "time elapsed" => "time elapsed",
        "user" if above.counters => "user time",
        "sys" if above.counters => "system time",
        _ => return None,
    };
    let whole = &body[..value.len() + " seconds".len()];
    let first = value.split_whitespace().next()?;
    (is_number(first) && is_value(whole)).then(|| vec![printed(text, name, whole)])
}

/// `19,876,402,551      instructions        #    1.15  insn per cycle    ( +-  0.00% )`.
fn counter(text: &str, body: &str) -> Option<Vec<Value>> {
    let (count, note) = body.split_once('#').unwrap_or((body, ""));
    let count = count.split("( +-").next().unwrap_or("").trim();
    let words: Vec<&str> = count.split_whitespace().collect();
    let (number, event) = match words.as_slice() {
        [number, event] => (*number, *event),
        [number, unit, event] if is_value(&format!("1 {unit}")) => {
            (across(text, number, unit), *event)
        }
        _ => return None,
    };
    let event = event.trim_end_matches(":u").trim_end_matches(":k");
    if !is_number(words[0]) || !event.starts_with(char::is_alphabetic) {
        return None;
    }
    let mut found = vec![printed(text, event, number)];
    let note = note.split('(').next().unwrap_or("").trim();
    let (value, what) = note.split_once(' ').map_or((note, ""), |(v, w)| (v, w.trim()));
    if value.starts_with(|c: char| c.is_ascii_digit()) {
        let own = &note[..note.len() - what.len()];
        let whole = || note.trim();
        found.extend(match what {
            "GHz" => Some(printed(text, "clock rate", whole())),
            "M/sec" | "K/sec" | "G/sec" => {
                Some(printed(text, format!("{event} per second"), whole()))
            }
            "insn per cycle" => Some(printed(text, "instructions per cycle (IPC)", own.trim())),
            what if what.starts_with("of all ") => {
                Some(printed(text, format!("{event} rate {what}"), own.trim()))
            }
            what => is_value(own.trim()).then(|| printed(text, what, own.trim())),
        });
    }
    Some(found)
}

const TIMES: [&str; 7] = ["real", "user", "system", "sys", "elapsed", "cpu", "total"];

/// `./old  9.12s user 0.41s system 99% cpu 9.530 total`, `9.12 real  8.50 user  0.41 sys`, `8.50user 0.41system
/// 0:09.12elapsed 97%CPU`, and `real 9.12`.
fn times(text: &str, body: &str) -> Option<Vec<Value>> {
    let words: Vec<&str> = body.split_whitespace().collect();
    if let [name, value] = words.as_slice()
        && ["real", "user", "sys"].contains(name)
    {
        if let Some(time) = clock(value) {
            return Some(vec![Value { text: Some(time), ..printed(text, *name, value) }]);
        }
        let minutes = value.ends_with('s') && is_value(value);
        let unit = if minutes { "" } else { "s" };
        return (minutes || is_number(value)).then(|| vec![with_unit(text, *name, value, unit)]);
    }
    // "8.500u 0.410s 0:09.12 97.7%", as csh prints it
    if let [user, system, wall, ..] = words.as_slice()
        && let (Some(user), Some(system)) = (user.strip_suffix('u'), system.strip_suffix('s'))
        && let Some(time) = clock(wall)
        && is_number(user)
        && is_number(system)
    {
        return Some(vec![
            with_unit(text, "user", user, "s"),
            with_unit(text, "system", system, "s"),
            Value { text: Some(time), ..printed(text, "elapsed", wall) },
        ]);
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let digits = words[at].bytes().take_while(|b| !b.is_ascii_alphabetic()).count();
        let (value, joined) = words[at].split_at(digits);
        let value = value.trim_start_matches('(');
        let (piece, name, used) = match words.get(at + 1) {
            _ if TIMES.contains(&joined.to_lowercase().as_str()) => (value, joined, 1),
            Some(next) if TIMES.contains(&next.to_lowercase().as_str()) => (words[at], *next, 2),
            _ => {
                at += 1;
                continue;
            }
        };
        at += used;
        let name = name.to_lowercase();
        let unit = if name == "cpu" { "" } else { "s" };
        if let Some(time) = clock(piece) {
            found.push(Value { text: Some(time), ..printed(text, name, piece) });
        } else if is_number(piece) {
            found.push(with_unit(text, name, piece, unit));
        } else if is_value(piece) {
            found.push(printed(text, name, piece));
        }
    }
    (found.len() > 2).then_some(found)
}

/// `Maximum resident set size (kbytes): 123456`, `Elapsed (wall clock) time (h:mm:ss or m:ss): 0:09.12`.
fn unit_in_name(text: &str, body: &str) -> Option<Vec<Value>> {
    let (name, value) = body.split_once("): ")?;
    let (what, unit) = name.rsplit_once('(')?;
    let value = value.trim();
    let name = what.trim();
    if name.is_empty() || name.len() > 50 || !name.starts_with(char::is_uppercase) {
        return None;
    }
    if let Some(time) = clock(value).filter(|_| unit.contains("m:ss")) {
        return Some(vec![Value { text: Some(time), ..printed(text, name, value) }]);
    }
    let known = unit.len() > 1 && amount::measure(unit).is_some();
    (known && is_number(value)).then(|| vec![with_unit(text, name, value, unit)])
}

/// `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.98 s, 1.1 GB/s`.
fn copied(text: &str, body: &str) -> Option<Vec<Value>> {
    let (bytes, rest) = body.split_once(" bytes (")?;
    let (_, rest) = rest.split_once(") copied, ")?;
    let (time, rate) = rest.rsplit_once(", ")?;
    let time = time.split(", ").last()?;
    (is_number(bytes) && is_value(time) && is_value(rate)).then(|| {
        vec![
            printed(text, "bytes copied", &body[..bytes.len() + " bytes".len()]),
            printed(text, "time", time),
            printed(text, "throughput (rate)", rate),
        ]
    })
}

/// `10000 loops, best of 5: 25.3 usec per loop`, `1.23 ms ± 4.1 µs per loop (mean ± std. dev. of 7 runs, 1000 loops each)`.
fn timeit(text: &str, body: &str) -> Option<Vec<Value>> {
    let (own, _) = body.split_once(" per loop")?;
    let value = own.split_once(": ").map_or(own, |(_, value)| value);
    is_value(value).then(|| vec![printed(text, "time per loop", value)])
}

/// `T: 0 ( 1234) P:80 I:1000 C: 100000 Min:      2 Act:    4 Avg:    3 Max:      121`, in microseconds.
fn cyclictest(text: &str, body: &str) -> Option<Vec<Value>> {
    let (_, rest) = body.strip_prefix("T:")?.split_once(" C:")?;
    let of = |name: &str, called: &str| {
        let value = rest.split_once(name)?.1.split_whitespace().next()?;
        is_number(value).then(|| with_unit(text, called, value, "us"))
    };
    let names = [("Min:", "min latency"), ("Avg:", "average latency"), ("Max:", "max latency")];
    Some(names.iter().filter_map(|(name, called)| of(name, called)).collect())
}

/// `[SUM]   0.00-30.00  sec  82.1 GBytes  23.5 Gbits/sec   412   sender`: of several streams only their sum.
fn iperf(above: &Above, text: &str, body: &str) -> Option<Vec<Value>> {
    let (stream, rest) = body.strip_prefix('[')?.split_once(']')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [range, "sec", size, bytes, rate, bits, more @ ..] = words.as_slice() else { return None };
    let (from, to) = range.split_once('-')?;
    let (from, to): (f64, f64) = (from.parse().ok()?, to.parse().ok()?);
    let several = stream != "SUM" && above.sums;
    let ends = ["sender", "receiver"].iter().find(|end| more.contains(end));
    // Lines of one interval say less than that of the whole run.
    if several || from != 0.0 || to < 4.0 && ends.is_none() {
        return Some(Vec::new());
    }
    let side = if ends == Some(&"receiver") { " received" } else { "" };
    let pieces = [
        ("data transfer", across(text, size, bytes)),
        ("bandwidth (bitrate)", across(text, rate, bits)),
    ];
    let mut found: Vec<Value> = pieces
        .into_iter()
        .filter(|(_, piece)| is_value(piece))
        .map(|(name, piece)| printed(text, format!("{name}{side}"), piece))
        .collect();
    if let [retries, "sender"] = more
        && is_number(retries)
    {
        found.push(printed(text, "retransmits (retries)", retries));
    }
    Some(found)
}

/// `5 packets transmitted, 5 received, 0% packet loss, time 4005ms` over `rtt min/avg/max/mdev = 0.035/0.041/0.060/0.004 ms`.
fn ping(text: &str, body: &str) -> Option<Vec<Value>> {
    if body.contains(" packets transmitted, ") {
        let loss = body.split(", ").find_map(|part| part.strip_suffix(" packet loss"))?;
        return is_value(loss).then(|| vec![printed(text, "packet loss", loss)]);
    }
    let (names, values) = body.split_once(" = ")?;
    let (name, names) = names.rsplit_once(' ')?;
    let (values, unit) = values.split_once(' ')?;
    let (names, values): (Vec<&str>, Vec<&str>) =
        (names.split('/').collect(), values.split('/').collect());
    let unit = unit.split(',').next().unwrap_or("").trim();
    let fits = names.len() == values.len()
        && names.len() > 2
        && name.len() < 40
        && values.iter().all(|v| is_number(v))
        && amount::measure(unit).is_some();
    let of = |(key, value): (&&str, &&str)| with_unit(text, statistic(key, name), value, unit);
    fits.then(|| names.iter().zip(&values).map(of).collect())
}

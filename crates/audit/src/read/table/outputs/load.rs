//! What tools print that put load on a server: wrk, ApacheBench, hey, bombardier, k6, vegeta, redis-benchmark, YCSB.

use super::{Above, Found, Value, is_number, is_value, percentile, printed, statistic, with_unit};

pub(super) fn read(above: &mut Above, text: &str, body: &str) -> Option<Found> {
    // Where it sends requests names nothing.
    if body.starts_with("Running ") && body.contains(" test @ ") || body.starts_with("Bombarding ")
    {
        return Some(Found::Begin);
    }
    let values = header(above, body)
        .or_else(|| distribution(above, text, body))
        .or_else(|| under_header(above, text, body))
        .or_else(|| requests(text, body))
        .or_else(|| bracketed_unit(text, body))
        .or_else(|| bracketed_names(text, body))
        .or_else(|| pairs(text, body))
        .or_else(|| ycsb(text, body))
        .or_else(|| operation(text, body))?;
    Some(if values.is_empty() { Found::Part } else { Found::Values(values) })
}

/// `Thread Stats   Avg      Stdev     Max   +/- Stdev`, or ` min  mean[+/-sd] median   max`: the columns of the lines below.
fn header(above: &mut Above, body: &str) -> Option<Vec<Value>> {
    let words = body.replace("[+/-sd]", " sd").replace("+/- Stdev", "+/-");
    let words: Vec<&str> = words.split_whitespace().collect();
    let known = |w: &str| {
        ["avg", "mean", "stdev", "sd", "min", "max", "median", "+/-"]
            .into_iter()
            .find(|k| k.eq_ignore_ascii_case(w))
    };
    let first = words.iter().position(|w| known(w).is_some()).filter(|first| *first <= 2)?;
    let found: Option<Vec<&'static str>> = words[first..].iter().map(|w| known(w)).collect();
    above.statistics = found.filter(|f| f.len() > 2)?;
    Some(Vec::new())
}

/// `Latency     3.12ms    1.48ms  41.20ms   88.10%` under the names of its columns.
fn under_header(above: &Above, text: &str, body: &str) -> Option<Vec<Value>> {
    let words: Vec<&str> = body.split_whitespace().collect();
    let (name, cells) = words.split_first()?;
    if cells.is_empty()
        || cells.len() != above.statistics.len()
        || !cells.iter().all(|c| is_value(c))
    {
        return None;
    }
    let name = name.trim_end_matches(':');
    // What each thread of wrk does is no result.
    if name.eq_ignore_ascii_case("req/sec") {
        return Some(Vec::new());
    }
    let of = above.statistics.iter().zip(cells).filter(|(s, _)| **s != "+/-");
    Some(of.map(|(s, cell)| printed(text, statistic(s, &name.to_lowercase()), cell)).collect())
}

/// `Latency Distribution` over `50%    2.84ms` or `99% in 0.0120 secs`.
fn distribution(above: &mut Above, text: &str, body: &str) -> Option<Vec<Value>> {
    let lower = body.to_lowercase();
    let titled = lower.split(" (").next().unwrap_or("").trim_end_matches(':');
    if lower.starts_with("percentage of the requests served") || titled.ends_with(" distribution") {
        above.distribution = Some(if lower.contains("(ms)") { "ms" } else { "" }.to_owned());
        return Some(Vec::new());
    }
    let unit = above.distribution.as_ref()?;
    let (p, value) = body.split_once('%')?;
    let value = value.trim_start().trim_start_matches("in ").trim_start_matches(':');
    let value = value.split('(').next().unwrap_or("").trim();
    let own = p.parse::<f64>().is_ok_and(|p| (0.0..=100.0).contains(&p)) && is_value(value);
    own.then(|| vec![with_unit(text, percentile(p, "latency"), value, unit)])
}

/// `4921624 requests in 1.00m, 3.52GB read`, `8 threads and 256 connections` and `Transfer/sec:     59.99MB`.
fn requests(text: &str, body: &str) -> Option<Vec<Value>> {
    if let Some((count, rest)) = body.split_once(" requests in ")
        && let Some((time, read)) = rest.split_once(", ")
        && let Some(read) = read.strip_suffix(" read")
        && is_number(count)
        && is_value(time)
    {
        return Some(vec![
            printed(text, "total requests", count),
            printed(text, "duration of the run", time),
            printed(text, "data read", read.trim()),
        ]);
    }
    if let Some((name, value)) = body.split_once(':')
        && matches!(name, "Requests/sec" | "Transfer/sec")
        && is_value(value.trim())
    {
        let value = value.trim();
        let unit = if name == "Transfer/sec" { "/s" } else { "" };
        let bytes = Value {
            text: Some(format!("{value}{unit}")),
            ..printed(text, name.to_lowercase(), value)
        };
        return Some(vec![bytes]);
    }
    let threads = body.split_once(" threads and ")?;
    let runs = is_number(threads.0) && threads.1.ends_with(" connections") && body.len() < 60;
    runs.then(Vec::new)
}

/// `Time per request:       8.100 [ms] (mean)`, with its unit in brackets.
fn bracketed_unit(text: &str, body: &str) -> Option<Vec<Value>> {
    let (name, rest) = body.split_once(':')?;
    let (value, rest) = rest.trim_start().split_once(" [")?;
    let (unit, note) = rest.split_once(']')?;
    let unit = if unit == "#/sec" { "/s" } else { unit };
    let own = format!("{value} {unit}");
    let note = note.trim().trim_matches(['(', ')']).replace("mean, ", "");
    if !is_number(value) || !is_value(&own) || name.len() > 40 || note.len() > 60 {
        return None;
    }
    let note = if note == "mean" { String::new() } else { format!(" {note}") };
    Some(vec![with_unit(text, format!("{name}{note}").trim(), value, unit)])
}

/// `Latencies     [min, mean, 50, 95, 99, max]  1.2ms, 2.1ms, 2ms, 3ms, 5ms, 9ms`.
fn bracketed_names(text: &str, body: &str) -> Option<Vec<Value>> {
    let (name, rest) = body.split_once(" [")?;
    let (names, values) = rest.split_once(']')?;
    let names: Vec<&str> = names.split(", ").collect();
    let values: Vec<&str> = values.trim().split(", ").collect();
    let name = name.trim().to_lowercase();
    let fits = names.len() == values.len()
        && (1..30).contains(&name.len())
        && name.starts_with(char::is_alphabetic)
        && values.iter().all(|v| is_value(v))
        && names.iter().all(|n| !n.is_empty() && n.len() < 20);
    let of = |(key, value): (&&str, &&str)| printed(text, statistic(key, &name), value);
    (fits && names.len() > 1).then(|| names.iter().zip(&values).map(of).collect())
}

/// `http_req_duration..............: avg=1.5ms  min=1ms p(95)=3.1ms`, and `http_reqs...........: 125312  4176.01/s`.
fn pairs(text: &str, body: &str) -> Option<Vec<Value>> {
    let (name, rest) = body.split_once("...: ").or_else(|| body.split_once(':'))?;
    if body[name.len()..].starts_with("...: ") {
        let name = name.trim_start_matches(['✓', '✗', ' ']).trim_end_matches(['.', ' ']);
        if name.starts_with('{') {
            return Some(Vec::new());
        }
        let chunks: Vec<&str> = rest.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
        if let Some(total) = chunks.first().filter(|c| is_value(c)) {
            let rate = chunks.get(1).filter(|c| is_value(c) && c.ends_with("/s"));
            let rate = rate.map(|rate| printed(text, format!("{name} per second"), rate));
            return Some(std::iter::once(printed(text, name, total)).chain(rate).collect());
        }
    }
    let name = name.trim_start_matches(['✓', '✗', ' ']).trim_end_matches(['.', ' ']);
    if name.is_empty() || name.len() > 50 || name.contains(['=', ',', '(']) {
        return None;
    }
    let found: Option<Vec<Value>> = rest
        .split_whitespace()
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            is_value(value).then(|| printed(text, statistic(key, name), value))
        })
        .collect();
    found.filter(|f| f.len() > 2)
}

/// `[READ], 99thPercentileLatency(us), 1234`.
fn ycsb(text: &str, body: &str) -> Option<Vec<Value>> {
    let (operation, rest) = body.strip_prefix('[')?.split_once("], ")?;
    let (what, value) = rest.split_once(", ")?;
    if !is_number(value) || operation.len() > 30 || what.len() > 60 {
        return None;
    }
    let Some((what, unit)) = what.split_once('(') else { return Some(Vec::new()) };
    let unit = unit.trim_end_matches(')');
    let name = match what.split_once("thPercentile").or_else(|| what.split_once("Percentile")) {
        Some((p, of)) => percentile(p, &spaced(of)),
        None => spaced(what),
    };
    Some(vec![printed(text, format!("{operation} {name} ({unit})"), value)])
}

/// `AverageLatency` as words.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// `SET: 98231.83 requests per second, p50=0.263 msec`.
fn operation(text: &str, body: &str) -> Option<Vec<Value>> {
    let (name, rest) = body.split_once(": ")?;
    let (rate, rest) = rest.split_once(" requests per second")?;
    if !is_number(rate) || name.len() > 60 {
        return None;
    }
    let mut found = vec![printed(text, format!("{name} requests per second"), rate)];
    for pair in rest.trim_start_matches(',').split(',') {
        if let Some((key, value)) = pair.trim().split_once('=')
            && is_value(value)
        {
            found.push(printed(text, format!("{name} {}", statistic(key, "latency")), value));
        }
    }
    Some(found)
}

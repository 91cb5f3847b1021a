//! JSON output of iperf3 (`-J`).

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["start.version"]) && json::head(bytes).contains("iperf 3")
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let root = Json::root(&file);
    let mut suite = SuiteReader::new("iperf3", "iperf3");
    let version = root.get("start").get("version").text_or_empty();
    suite.result().version = version.split_whitespace().nth(1).map(str::to_owned);
    if let Some(error) = root.get("error").text()? {
        suite.fail("", error)?;
        return suite.finish(error);
    }
    let end = root.get("end");
    // For UDP only the sum of both sides knows about losses.
    let received = end.get("sum_received");
    let sum = if received.value().is_object() { received } else { end.get("sum") };
    let rate =
        |json: &Json<'_>| Ok::<_, Flaw>(json.get("bits_per_second").amount()?.map(|b| b / 8.0));
    let mut values = vec![("throughput", rate(&sum)?, "B/s", Higher)];
    if let Some(sent) = rate(&end.get("sum_sent"))? {
        values.push(("sent", Some(sent), "B/s", Higher));
    }
    for (json, key, name, factor, unit) in [
        (end.get("sum_sent"), "retransmits", "retransmits", 1.0, "1"),
        (end.get("sum"), "jitter_ms", "jitter", 1e-3, "s"),
        (end.get("sum"), "lost_percent", "lost", 0.01, "1"),
    ] {
        if let Some(value) = json.get(key).amount()? {
            values.push((name, Some(value * factor), unit, Lower));
        }
    }
    let figures = Figures {
        rate: rate(&sum)?,
        count: sum.get("bytes").amount()?,
        seconds: sum.get("seconds").amount()?,
        ..Figures::default()
    };
    suite.add("", &values)?.hold(&["throughput"], &figures);
    suite.finish("give the output of `iperf3 -J`")
}

//! Units as they are printed beside numbers, and what turns one into another.

/// What a number counts, with the factor to the base unit of its dimension.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "dimension", content = "of")]
pub enum Unit {
    /// Per cent.
    Percent,
    /// Times ("2.6X").
    Times,
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bits.
    Bits,
    /// Bytes a second.
    ByteRate,
    /// Bits a second.
    BitRate,
    /// Hertz.
    Frequency,
    /// Watts.
    Power,
    /// Joules.
    Energy,
    /// Rack units.
    RackUnits,
    /// Things that are counted, by name in the singular (`chip`, `core`, `jvm`).
    Count(&'static str),
}

/// A unit read from text: the unit, its factor to the base, and the other factor that the same
/// letters may mean (1 KB is 1000 or 1024 bytes).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Read {
    pub unit: Unit,
    pub scale: f64,
    pub binary: Option<f64>,
}

fn simple(unit: Unit, scale: f64) -> Read {
    Read { unit, scale, binary: None }
}

/// Words that count things, with what they count.
const COUNTED: [(&str, &str); 30] = [
    ("chip", "chip"),
    ("chips", "chip"),
    ("processor", "chip"),
    ("processors", "chip"),
    ("socket", "chip"),
    ("sockets", "chip"),
    ("cpu", "cpu"),
    ("cpus", "cpu"),
    ("way", "chip"),
    ("core", "core"),
    ("cores", "core"),
    ("thread", "thread"),
    ("threads", "thread"),
    ("strand", "thread"),
    ("strands", "thread"),
    ("jvm", "jvm"),
    ("jvms", "jvm"),
    ("blade", "blade"),
    ("blades", "blade"),
    ("disk", "disk"),
    ("disks", "disk"),
    ("drive", "disk"),
    ("drives", "disk"),
    ("user", "user"),
    ("users", "user"),
    ("copies", "copy"),
    ("node", "node"),
    ("nodes", "node"),
    ("session", "session"),
    ("sessions", "session"),
];

/// The unit that the lower-case word (or pair of words joined by `/`) names. Case matters for bits and bytes, so the
/// text as printed is given too.
pub(crate) fn read(lower: &str, printed: &str) -> Option<Read> {
    let word = lower.trim_end_matches('.');
    if let Some((_, name)) = COUNTED.iter().find(|(w, _)| *w == word) {
        return Some(simple(Unit::Count(name), 1.0));
    }
    Some(match word {
        "%" | "percent" | "pct" => simple(Unit::Percent, 1.0),
        "x" | "×" | "times" | "fold" => simple(Unit::Times, 1.0),
        "ns" | "nsec" | "nanos" | "nanosecond" | "nanoseconds" => simple(Unit::Time, 1e-9),
        "us" | "µs" | "μs" | "microsecond" | "microseconds" | "usec" | "micros" => {
            simple(Unit::Time, 1e-6)
        }
        "ms" | "millisecond" | "milliseconds" | "msec" | "millis" => simple(Unit::Time, 1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => simple(Unit::Time, 1.0),
        "min" | "mins" | "minute" | "minutes" => simple(Unit::Time, 60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => simple(Unit::Time, 3600.0),
        "day" | "days" => simple(Unit::Time, 86400.0),
        "hz" => simple(Unit::Frequency, 1.0),
        "khz" => simple(Unit::Frequency, 1e3),
        "mhz" => simple(Unit::Frequency, 1e6),
        "ghz" => simple(Unit::Frequency, 1e9),
        "w" | "watt" | "watts" => simple(Unit::Power, 1.0),
        "kw" | "kilowatt" | "kilowatts" => simple(Unit::Power, 1e3),
        "wh" | "watt-hours" => simple(Unit::Energy, 3600.0),
        "kwh" | "kilowatt-hours" => simple(Unit::Energy, 3.6e6),
        "mwh" if printed.starts_with('M') => simple(Unit::Energy, 3.6e9),
        "joule" | "joules" => simple(Unit::Energy, 1.0),
        "kj" | "kilojoules" => simple(Unit::Energy, 1e3),
        "mj" => simple(Unit::Energy, if printed.starts_with('M') { 1e6 } else { 1e-3 }),
        "j" if printed.starts_with('J') => simple(Unit::Energy, 1.0),
        "ru" | "u" => simple(Unit::RackUnits, 1.0),
        _ => return data(word, printed.trim_end_matches('.')),
    })
}

/// Units of data and of data a second.
fn data(lower: &str, printed: &str) -> Option<Read> {
    let mut body = lower;
    let mut rate = false;
    for ending in ["/second", "/sec", "/s", "ps"] {
        if let Some(head) = body.strip_suffix(ending).filter(|h| !h.is_empty()) {
            body = head;
            rate = true;
            break;
        }
    }
    let (name, bits) =
        if let Some(head) = ["bytes", "byte"].iter().find_map(|e| body.strip_suffix(e)) {
            (head, false)
        } else if let Some(head) = ["bits", "bit"].iter().find_map(|e| body.strip_suffix(e)) {
            (head, true)
        } else {
            let head = body.strip_suffix('b')?;
            // A small b is a bit only in a rate ("Gb/s"); "64kb" of memory are bytes.
            let small = printed.as_bytes().get(head.len()) == Some(&b'b');
            let capital_prefix = printed.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
            (head, rate && small && (capital_prefix || lower.ends_with("ps")))
        };
    let power = match name {
        "" => 0,
        "k" | "kilo" | "ki" | "kibi" => 1,
        "m" | "mega" | "mi" | "mebi" => 2,
        "g" | "giga" | "gi" | "gibi" => 3,
        "t" | "tera" | "ti" | "tebi" => 4,
        _ => return None,
    };
    if name.is_empty() && body == "b" {
        return None;
    }
    let two = 1024f64.powi(power);
    let ten = 1000f64.powi(power);
    let iec = matches!(name, "ki" | "mi" | "gi" | "ti" | "kibi" | "mebi" | "gibi" | "tebi");
    let unit = match (bits, rate) {
        (true, true) => Unit::BitRate,
        (true, false) => Unit::Bits,
        (false, true) => Unit::ByteRate,
        (false, false) => Unit::Bytes,
    };
    Some(Read {
        unit,
        scale: if iec { two } else { ten },
        binary: (!iec && power > 0).then_some(two),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(printed: &str) -> (Unit, f64) {
        let read = read(&printed.to_lowercase(), printed).unwrap();
        (read.unit, read.scale)
    }

    #[test]
    fn bits_and_bytes_are_distinguished() {
        assert_eq!(of("GB/s"), (Unit::ByteRate, 1e9));
        assert_eq!(of("Gbit/s"), (Unit::BitRate, 1e9));
        assert_eq!(of("Gb/s"), (Unit::BitRate, 1e9));
        assert_eq!(of("Gigabits"), (Unit::Bits, 1e9));
        assert_eq!(of("kb"), (Unit::Bytes, 1e3));
        assert_eq!(of("MiB"), (Unit::Bytes, 1048576.0));
        assert_eq!(of("Mbps"), (Unit::BitRate, 1e6));
    }

    #[test]
    fn energy_is_in_joules() {
        assert_eq!(of("J"), (Unit::Energy, 1.0));
        assert_eq!(of("mJ"), (Unit::Energy, 1e-3));
        assert_eq!(of("MJ"), (Unit::Energy, 1e6));
        assert_eq!(of("kWh"), (Unit::Energy, 3.6e6));
        for word in ["j", "mWh"] {
            assert_eq!(read(&word.to_lowercase(), word), None, "{word}");
        }
    }

    #[test]
    fn words_that_are_no_units_are_none() {
        for word in ["b", "bops", "club", "web", "ps", "rpm"] {
            assert_eq!(read(word, word), None, "{word}");
        }
    }
}

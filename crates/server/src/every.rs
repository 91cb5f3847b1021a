//! When something is done again and again: `hour`, `day at 02:00`, `week on monday at 02:00`. Times are UTC, which
//! has no summer time: none is ever skipped or comes twice.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// 1970-01-01 was a Thursday; days of a week are counted from Monday.
const FIRST_DAY: i64 = 3;
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const EXAMPLES: &str = "`hour`, `hour at :30`, `day at 02:00`, `weekday at 02:00`, `week on monday at 02:00`; times are UTC";

/// Hours or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    EveryHour,
    EveryDay,
    /// Monday to Friday.
    Weekdays,
    /// One day of the week, 0 is Monday.
    Weekday(i64),
}

/// When something is done again: at this second of the hours or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Every {
    on: On,
    second: i64,
}

impl Every {
    /// The first time after `after`.
    pub fn next(self, after: Timestamp) -> Timestamp {
        let now = after.as_second();
        let Every { on, second } = self;
        let unit = if on == On::EveryHour { HOUR } else { DAY };
        let fits = |n: &i64| {
            let of_week = (n + FIRST_DAY).rem_euclid(7);
            let right = match on {
                On::EveryHour | On::EveryDay => true,
                On::Weekdays => of_week < 5,
                On::Weekday(wanted) => of_week == wanted,
            };
            right && n * unit + second > now
        };
        let this = now.div_euclid(unit);
        // Every day of the week is among eight days.
        let next = (this..this + 9).find(fits).unwrap_or(this + 1);
        Timestamp::from_second(next * unit + second).unwrap_or(Timestamp::MAX)
    }
}

/// `02:00` as seconds of the day.
fn time(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    Some(number(hour, 24)? * HOUR + number(minute, 60)? * MINUTE)
}

/// One or two digits below `limit`.
fn number(text: &str, limit: i64) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n| digits && *n < limit)
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let day = |on: On, at: &str| Some(Every { on, second: time(at)? });
        let hour = |minute: i64| Every { on: On::EveryHour, second: minute * MINUTE };
        let weekday = |name: &str| DAYS.iter().position(|d| *d == name).map(|d| d as i64);
        let read = match words.as_slice() {
            ["hour"] => Some(hour(0)),
            ["hour", "at", minute] => {
                minute.strip_prefix(':').and_then(|m| number(m, 60)).map(hour)
            }
            ["day", "at", at] => day(On::EveryDay, at),
            ["weekday", "at", at] => day(On::Weekdays, at),
            ["week", "on", name, "at", at] => weekday(name).and_then(|d| day(On::Weekday(d), at)),
            _ => None,
        };
        read.ok_or_else(|| format!("`{text}` is not a schedule; write {EXAMPLES}"))
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = self.second;
        match self.on {
            On::EveryHour if second == 0 => return f.write_str("hour"),
            On::EveryHour => return write!(f, "hour at :{:02}", second / MINUTE),
            On::EveryDay => f.write_str("day")?,
            On::Weekdays => f.write_str("weekday")?,
            On::Weekday(d) => write!(f, "week on {}", DAYS[d as usize])?,
        }
        write!(f, " at {:02}:{:02}", second / HOUR, second % HOUR / MINUTE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_next_time_is_after_now() {
        for (every, now, next) in [
            ("hour", "2026-11-23T16:00:00Z", "2026-11-23T17:00:00Z"),
            ("hour at :30", "2026-11-23T16:10:00Z", "2026-11-23T16:30:00Z"),
            ("day at 02:00", "2026-11-23T01:59:59Z", "2026-11-23T02:00:00Z"),
            ("day at 02:00", "2026-11-23T02:00:00Z", "2026-11-24T02:00:00Z"),
            // A Friday.
            ("weekday at 02:00", "2026-11-27T03:00:00Z", "2026-11-30T02:00:00Z"),
            ("week on monday at 2:05", "2026-11-23T02:06:00Z", "2026-11-30T02:05:00Z"),
            ("week on sunday at 23:59", "2026-11-23T00:00:00Z", "2026-11-29T23:59:00Z"),
            // The clocks of Berlin are turned in these nights; UTC's are not.
            ("day at 01:30", "2026-03-29T00:00:00Z", "2026-03-29T01:30:00Z"),
            ("day at 01:30", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"),
            ("day at 00:00", "2027-12-31T12:00:00Z", "2028-01-01T00:00:00Z"),
            ("day at 12:00", "1969-12-31T12:00:00Z", "1970-01-01T12:00:00Z"),
        ] {
            assert_eq!(every.parse::<Every>().unwrap().next(at(now)), at(next), "{every} {now}");
        }
    }

    #[test]
    fn every_form_is_read_back_and_a_wrong_one_is_answered_with_examples() {
        for text in
            ["hour", "hour at :05", "day at 02:00", "weekday at 13:07", "week on sunday at 00:00"]
        {
            assert_eq!(text.parse::<Every>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "day",
            "day at 24:00",
            "day at 2",
            "day at 02:60",
            "daily",
            "hour at 30",
            "week on mon at 02:00",
            "day at -1:00",
            "day at 02:00 UTC+1",
            "hour at :+5",
        ] {
            let error = text.parse::<Every>().unwrap_err();
            assert!(error.contains("`day at 02:00`") && error.contains("UTC"), "{error}");
        }
    }
}

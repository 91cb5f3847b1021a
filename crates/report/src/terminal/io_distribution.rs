//! Histograms in the shape in which DTrace prints `quantize` and `lquantize`, blank for blank: the
//! lower bound of each row, a bar of 40 characters, the count, and an empty row at each end.

use std::fmt::Write;

use assay_traces::block_io::{HistogramRow, Printed, PrintedHistograms, Steps};

use super::Style;
use crate::document::{DocumentPart, Parts, terminal};

/// Length of a full bar in characters.
const BAR: u64 = 40;

/// Formats rows as DTrace prints them. `steps` are those of a linear histogram; `None` is for
/// powers of two. Empty without rows.
pub(super) fn distribution(rows: &[HistogramRow], steps: Option<Steps>) -> String {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return String::new() };
    let total: u64 = rows.iter().map(|r| r.count).sum();
    let mut out = title();
    if let Some(label) = label_before(first, steps) {
        line(&mut out, &label, 0, total);
    }
    for row in rows {
        line(&mut out, &label(row), row.count, total);
    }
    if let Some(to) = last.to {
        let open = steps.is_some_and(|s| to >= s.to());
        line(&mut out, &if open { format!(">= {to}") } else { to.to_string() }, 0, total);
    }
    out
}

/// Formats histograms that DTrace printed, with the statistics that can be derived from them.
pub fn printed(all: &PrintedHistograms, style: Style) -> String {
    let mut out = Parts::default();
    for histogram in &all.histograms {
        out.titled(histogram.title.as_str());
        let mut drawn = title();
        for row in &histogram.rows {
            line(&mut drawn, &row.value, row.count, histogram.total);
        }
        out.push(DocumentPart::Code("", drawn));
        out.note(in_words(histogram));
    }
    if all.unreadable > 0 {
        out.say(format!("{} rows could not be read", all.unreadable));
    }
    terminal::parts(&out, style)
}

fn in_words(histogram: &Printed) -> String {
    let row = |name: &str, row: &Option<String>| {
        row.as_ref().map_or(String::new(), |r| format!("; {name} in the row {r}"))
    };
    format!(
        "{} in all{}{}{}",
        histogram.total,
        row("the middle", &histogram.median_row),
        row("p90", &histogram.p90_row),
        row("p99", &histogram.p99_row)
    )
}

/// Returns the line above every histogram.
fn title() -> String {
    let rule = "------------- Distribution -------------";
    format!("{:>16} {rule:>41} {:<9}\n", "value", "count")
}

fn label(row: &HistogramRow) -> String {
    match (row.from, row.to) {
        (None, Some(to)) => format!("< {to}"),
        // With powers of two, only the last row has no end.
        (Some(from), None) if from == i64::MAX => from.to_string(),
        (Some(from), None) => format!(">= {from}"),
        (Some(from), Some(_)) => from.to_string(),
        (None, None) => String::new(),
    }
}

/// Returns the label of the row before the first; `None` if the first row is open below.
fn label_before(first: &HistogramRow, steps: Option<Steps>) -> Option<String> {
    let from = first.from?;
    Some(match steps {
        Some(steps) if from <= steps.from() => format!("< {from}"),
        Some(steps) => {
            // The last step may be short: rows begin at whole steps from the first.
            let whole = (from - steps.from() - 1) / steps.step();
            (steps.from() + whole * steps.step()).to_string()
        }
        None => match from {
            0 => "-1".to_owned(),
            1 => "0".to_owned(),
            i64::MAX => (1i64 << 62).to_string(),
            more => (more / 2).to_string(),
        },
    })
}

fn line(out: &mut String, label: &str, count: u64, total: u64) {
    // Uses 128 bits, because counts times 40 may exceed 64 bits.
    let at = (u128::from(count) * u128::from(2 * BAR) + u128::from(total))
        / u128::from(2 * total.max(1));
    let bar = "@".repeat(at.min(u128::from(BAR)) as usize);
    let _ = writeln!(out, "{label:>16} |{bar:<40} {count:<9}");
}

#[cfg(test)]
mod tests {
    use assay_traces::block_io::{Linear, Pow2};

    use super::*;

    /// Sizes of the writes in the article of 24 June 2009, blank for blank.
    #[test]
    fn as_dtrace_printed_it_in_2009() {
        let mut h = Pow2::default();
        for (bucket, n) in [(14, 1324), (16, 1032), (17, 2182), (18, 518), (19, 6)] {
            h.add_to_bucket(bucket, n);
        }
        let printed = "           value  ------------- Distribution ------------- count    
            4096 |                                         0        
            8192 |@@@@@@@@@@                               1324     
           16384 |                                         0        
           32768 |@@@@@@@@                                 1032     
           65536 |@@@@@@@@@@@@@@@@@                        2182     
          131072 |@@@@                                     518      
          262144 |                                         6        
          524288 |                                         0        
";
        assert_eq!(distribution(&h.rows(), None), printed);
    }

    #[test]
    fn rows_at_zero_have_one_below() {
        let mut h = Pow2::default();
        h.add(0);
        let text = distribution(&h.rows(), None);
        let labels: Vec<&str> = text.lines().skip(1).map(|l| l[..16].trim()).collect();
        assert_eq!(labels, ["-1", "0", "1"]);
        h.add(u64::MAX);
        let text = distribution(&h.rows(), None);
        assert!(text.lines().last().unwrap().contains(&i64::MAX.to_string()), "{text}");
    }

    #[test]
    fn linear_rows_say_where_they_are_open() {
        let steps = Steps::new(0, 35, 10).unwrap();
        let labels = |values: &[u64]| -> Vec<String> {
            let mut h = Linear::new(steps);
            for v in values {
                h.add(*v);
            }
            let text = distribution(&h.rows(), Some(steps));
            text.lines().skip(1).map(|l| l[..16].trim().to_owned()).collect()
        };
        assert_eq!(labels(&[15]), ["0", "10", "20"]);
        assert_eq!(labels(&[3, 99]), ["< 0", "0", "10", "20", "30", ">= 35"]);
        assert_eq!(labels(&[34]), ["20", "30", ">= 35"]);
        assert_eq!(labels(&[40]), ["30", ">= 35"]);
        assert_eq!(distribution(&[], None), "");
    }
}

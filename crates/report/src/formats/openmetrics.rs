//! Text of OpenMetrics 1.0: gauges with labels, which Prometheus reads.

use std::fmt::Write as _;

/// Media type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A text with gauges that have been written so far.
#[derive(Debug, Default)]
pub struct OpenMetrics {
    text: String,
}

impl OpenMetrics {
    /// Starts a family of gauges; its samples follow.
    pub fn gauge(&mut self, family: &str, help: &str) {
        let _ = writeln!(self.text, "# TYPE {family} gauge\n# HELP {family} {help}");
    }

    /// Writes a sample of the family that was started last. A value that is missing or not finite
    /// is left out.
    pub fn sample(&mut self, family: &str, labels: &[(&str, &str)], value: Option<f64>) {
        let Some(value) = value.filter(|v| v.is_finite()) else { return };
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{family}{labels} {value}");
    }

    /// Returns the whole text.
    pub fn finish(self) -> String {
        self.text + "# EOF\n"
    }
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_missing_values_left_out() {
        let mut out = OpenMetrics::default();
        out.gauge("assay_x", "A gauge");
        out.sample("assay_x", &[("name", "a\"b\\\n")], Some(0.5));
        out.sample("assay_x", &[], Some(f64::NAN));
        out.sample("assay_x", &[], None);
        let text = out.finish();
        let sample = r#"assay_x{name="a\"b\\\n"} 0.5"#;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, ["# TYPE assay_x gauge", "# HELP assay_x A gauge", sample, "# EOF"]);
    }
}

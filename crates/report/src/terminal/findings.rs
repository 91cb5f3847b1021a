//! What the checks found.

use assay_model::{Finding, Severity};

use super::Style;
use super::writer::{Paint, Writer};

/// Findings, the worst first, each with its remedy. One line says so when there is none.
pub fn findings(findings: &[Finding], style: Style) -> String {
    let mut w = Writer::new(style);
    if findings.is_empty() {
        w.line("No findings.", Paint::Soft);
        return w.finish();
    }
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.severity));
    for f in sorted {
        let (word, paint) = match f.severity {
            Severity::Invalid => ("invalid", Paint::Bad),
            Severity::Warning => ("warning", Paint::Warn),
            Severity::Note => ("note", Paint::Soft),
        };
        w.wrapped(0, &format!("{word}: {} {}: {}", f.id, f.name, f.message), paint);
        if !f.remedy.is_empty() {
            w.wrapped(2, &format!("remedy: {}", f.remedy), Paint::Plain);
        }
    }
    w.finish()
}

//! The CSV report of SPEC CPU: a table of all runs (`"Full Results Table"`), a table of the
//! selected runs, the overall metrics, and the description of the system with one line per value.

use crate::readers::file::error::Flaw;
use crate::readers::speccpu::{SpecResult, SpecRun};

const FULL: &str = "Full Results Table";
const SELECTED: &str = "Selected Results Table";

/// True if this text looks like a CSV report; the start of the file is enough.
pub fn detect(text: &str) -> bool {
    text.trim_start().starts_with("valid,") && (text.contains(FULL) || text.contains(SELECTED))
}

/// Part of the file that the reader is in.
#[derive(Clone, Copy, PartialEq)]
enum ReportSection {
    Before,
    Full,
    Selected,
    After,
}

struct ReportReader {
    result: SpecResult,
    part: ReportSection,
    header: Vec<String>,
    full: bool,
}

/// Parses a CSV report.
///
/// # Errors
/// The first error in the text, with its line.
pub fn read(text: &str) -> Result<SpecResult, Flaw> {
    let mut reader = ReportReader {
        result: SpecResult::default(),
        part: ReportSection::Before,
        header: Vec::new(),
        full: text.contains(FULL),
    };
    let mut csv =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    for row in csv.records() {
        let row = row.map_err(|e| {
            let line = e.position().map_or(1, csv::Position::line);
            Flaw::line(line, format!("it is not CSV: {e}"))
        })?;
        let line = row.position().map_or(0, csv::Position::line);
        let fields: Vec<&str> = row.iter().map(str::trim).collect();
        reader.row(&fields, line)?;
    }
    let result = reader.result;
    if result.runs.is_empty() {
        return Err(Flaw::whole("its tables have no run of a benchmark"));
    }
    Ok(result)
}

impl ReportReader {
    fn row(&mut self, fields: &[&str], line: u64) -> Result<(), Flaw> {
        match fields {
            [] | [""] => {}
            ["valid", value, ..] => self.result.invalid = *value != "1",
            [name, ..] if *name == FULL => self.part = ReportSection::Full,
            [name, ..] if *name == SELECTED => self.part = ReportSection::Selected,
            ["Benchmark", ..] => {
                self.result.estimate |= fields.iter().any(|f| f.starts_with("Est. "));
                let plain = |f: &&str| f.replacen("Est. ", "", 1).to_lowercase();
                self.header = fields.iter().map(plain).collect();
            }
            [name, rest @ ..] if name.starts_with("SPEC") => {
                self.part = ReportSection::After;
                let first = rest.iter().find(|f| f.starts_with(|c: char| c.is_ascii_digit()));
                let value = first.and_then(|f| f.parse::<f64>().ok());
                if let Some(value) = value.filter(|t| t.is_finite() && *t > 0.0) {
                    self.result.overall.push(((*name).to_owned(), value));
                }
            }
            [name, ..] if self.in_table() && name.contains('.') => self.runs(fields, line)?,
            [name, value, ..]
                if self.part == ReportSection::After || self.part == ReportSection::Selected =>
            {
                self.part = ReportSection::After;
                let name = name.trim_end_matches(':').to_owned();
                self.result.facts.push((name, (*value).to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    fn in_table(&self) -> bool {
        matches!(self.part, ReportSection::Full | ReportSection::Selected)
    }

    /// Adds the base and the peak run of a line.
    fn runs(&mut self, fields: &[&str], line: u64) -> Result<(), Flaw> {
        if self.part == ReportSection::Selected && self.full {
            return Ok(()); // the selected runs are also in the full table
        }
        if fields.len() > self.header.len() {
            let (cells, titles) = (fields.len(), self.header.len());
            return Err(Flaw::line(line, format!("{cells} cells under {titles} titles")));
        }
        for tune in ["base", "peak"] {
            let field = |name: &str| {
                let column = self.header.iter().position(|h| *h == format!("{tune} {name}"))?;
                fields.get(column).copied()
            };
            let number = |name: &str| match field(name) {
                None | Some("" | "--" | "NA" | "NC") => Ok(None),
                Some(value) => match value.parse::<f64>() {
                    Ok(v) if v.is_finite() && v >= 0.0 => Ok(Some(v)),
                    _ => {
                        let message = format!("`{tune} {name}` is `{value}`, not a number from 0");
                        Err(Flaw::line(line, message))
                    }
                },
            };
            let (time, ratio) = (number("run time")?, number("rate")?.or(number("ratio")?));
            if time.is_none() && ratio.is_none() {
                continue;
            }
            let copies = number("# copies")?.map(|n| ("copies", n as i64));
            let threads = number("# threads")?.map(|n| ("threads", n as i64));
            let run = SpecRun {
                benchmark: fields[0].to_owned(),
                tune: tune.to_owned(),
                time,
                ratio,
                parallel: copies.or(threads),
                selected: field("selected") == Some("1"),
                status: field("status").filter(|s| !s.is_empty()).unwrap_or("S").to_owned(),
                errors: Vec::new(),
            };
            self.result.add(run);
        }
        Ok(())
    }
}

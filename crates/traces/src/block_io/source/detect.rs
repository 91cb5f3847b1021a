//! Detects the format of a trace from its contents. File names are ignored.

use crate::block_io::names::NameTable;
use crate::block_io::source::blkparse::BlkparseReader;
use crate::block_io::source::blktrace_record::{self, ByteOrder};
use crate::block_io::source::csv::{CsvReader, Dialect};
use crate::block_io::source::events::{EventLine, EventReader};
use crate::block_io::source::rows::{LineReader, ParsedLine};
use crate::block_io::source::snoop::Columns;
use crate::block_io::source::tracepoints::TracepointReader;
use crate::block_io::text::{iostat_log, quantize_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    Blktrace(ByteOrder),
    Blkparse,
    Tracepoints,
    Snoop(Columns),
    Csv(Dialect),
    Parquet,
    Iostat,
    Quantize,
}

impl TraceFormat {
    /// Returns the name for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            TraceFormat::Blktrace(ByteOrder::Little) => "blktrace",
            TraceFormat::Blktrace(ByteOrder::Big) => "blktrace of big-endian order",
            TraceFormat::Blkparse => "text of blkparse",
            TraceFormat::Tracepoints => "tracepoints as text (perf script, trace-cmd)",
            TraceFormat::Snoop(_) => "a table as of biosnoop",
            TraceFormat::Csv(Dialect::Msr) => "CSV as of MSR Cambridge",
            TraceFormat::Csv(Dialect::Alibaba) => "CSV as of Alibaba",
            TraceFormat::Csv(Dialect::Tencent) => "CSV as of Tencent",
            TraceFormat::Parquet => "Parquet",
            TraceFormat::Iostat => "a log of iostat",
            TraceFormat::Quantize => "histograms of DTrace",
        }
    }
}

/// Result of detecting a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DetectedFormat {
    /// A format that can be read.
    Known(TraceFormat),
    /// blktrace of an unsupported version.
    BlktraceVersion(u8),
    /// Compressed data, with the command that unpacks it.
    Compressed(&'static str),
    Unknown,
}

/// Number of bytes of a trace that are examined.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
/// Maximum number of lines of them that are parsed.
const HEAD_LINES: usize = 1000;

/// Detects the format of a trace from its first bytes.
pub(crate) fn detect(head: &[u8]) -> DetectedFormat {
    if let Some((order, version)) = blktrace_record::recognise(head) {
        return if blktrace_record::is_read(version) {
            DetectedFormat::Known(TraceFormat::Blktrace(order))
        } else {
            DetectedFormat::BlktraceVersion(version)
        };
    }
    if head.starts_with(b"PAR1") {
        return DetectedFormat::Known(TraceFormat::Parquet);
    }
    let compressed: [(&[u8], &'static str); 4] = [
        (b"\x1f\x8b", "zcat"),
        (b"\x28\xb5\x2f\xfd", "zstdcat"),
        (b"BZh", "bzcat"),
        (b"\xfd7zXZ\0", "xzcat"),
    ];
    if let Some((_, command)) = compressed.iter().find(|(magic, _)| head.starts_with(magic)) {
        return DetectedFormat::Compressed(command);
    }
    text(head).map_or(DetectedFormat::Unknown, DetectedFormat::Known)
}

/// Detects a text format: by its header, else the format that parses most of the first lines.
fn text(head: &[u8]) -> Option<TraceFormat> {
    let lines = || head.split(|b| *b == b'\n').take(HEAD_LINES);
    if memchr::memmem::find(head, quantize_text::RULE).is_some() {
        return Some(TraceFormat::Quantize);
    }
    if lines().any(iostat_log::is_header) {
        return Some(TraceFormat::Iostat);
    }
    if let Some(columns) = lines().find_map(Columns::from_header) {
        return Some(TraceFormat::Snoop(columns));
    }
    let names = NameTable::default();
    let csv = |dialect| {
        let mut reader = CsvReader::new(dialect, &names);
        (
            TraceFormat::Csv(dialect),
            lines().filter(|l| matches!(reader.line(l), ParsedLine::Io(_))).count(),
        )
    };
    let found = [
        csv(Dialect::Msr),
        csv(Dialect::Alibaba),
        csv(Dialect::Tencent),
        (TraceFormat::Blkparse, events(&mut BlkparseReader::new(&names), lines())),
        (TraceFormat::Tracepoints, events(&mut TracepointReader::new(&names), lines())),
    ];
    found.into_iter().filter(|(_, n)| *n > 0).max_by_key(|(_, n)| *n).map(|(format, _)| format)
}

fn events<'l>(reader: &mut impl EventReader, lines: impl Iterator<Item = &'l [u8]>) -> usize {
    lines.filter(|l| matches!(reader.line(l), EventLine::Event(_))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_what_it_holds() {
        let known = |text: &str| match detect(text.as_bytes()) {
            DetectedFormat::Known(format) => format.name(),
            _ => "",
        };
        assert_eq!(
            known("128166372003061629,hm,1,Read,383496192,32768,1331\n"),
            "CSV as of MSR Cambridge"
        );
        assert_eq!(known("419,W,8792731648,16384,1577808144360767\n"), "CSV as of Alibaba");
        assert_eq!(known("1538323200,12910952,128,0,1063\n"), "CSV as of Tencent");
        assert_eq!(known("  8,0 3 1 0.000000000 697 Q W 223490 + 8 [a]\n"), "text of blkparse");
        assert_eq!(
            known("fio 7 [0] 1.0: block:block_rq_issue: 8,0 WS 4096 () 8 + 8 [fio]\n"),
            "tracepoints as text (perf script, trace-cmd)"
        );
        assert_eq!(
            known("Attaching 4 probes...\nTIME(ms) DISK COMM PID LAT(ms)\n"),
            "a table as of biosnoop"
        );
        assert_eq!(known("Device r/s w/s rkB/s wkB/s\n"), "a log of iostat");
        assert_eq!(
            known("  value  ------------- Distribution ------------- count\n"),
            "histograms of DTrace"
        );
        assert_eq!(known("PAR1"), "Parquet");
        assert_eq!(known(""), "");
        assert_eq!(known("1,2,3\nhello\n"), "");
        assert_eq!(detect(b"\x08tae0000"), DetectedFormat::BlktraceVersion(8));
        assert_eq!(detect(b"\x1f\x8b\x08"), DetectedFormat::Compressed("zcat"));
    }
}

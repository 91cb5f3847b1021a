//! Analyzes a trace like `assay io --from`, for measurements: `ask TRACE [THREADS]
//! [totals|histograms|everything] [SAVE]`.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use assay_traces::block_io::{Dimension, Measure, Options, Question, TraceAnswer, ask};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [trace, rest @ ..] = arguments.as_slice() else {
        return Err("ask TRACE [THREADS] [totals|histograms|everything] [SAVE]".into());
    };
    let threads = rest.first().map_or(Ok(1), |n| n.parse())?;
    let question = match rest.get(1).map_or("histograms", String::as_str) {
        "totals" => Question::default(),
        "histograms" => Question {
            by: vec![Dimension::Device, Dimension::Direction],
            histograms: vec![Measure::Size, Measure::Latency],
            ..Question::default()
        },
        "everything" => Question {
            by: vec![Dimension::Program, Dimension::Direction],
            histograms: Measure::ALL.to_vec(),
            ..Question::default()
        },
        other => return Err(format!("`{other}` is no question").into()),
    };
    let save = rest.get(2).map(PathBuf::from);
    let begun = Instant::now();
    let answer = ask(Path::new(trace), &question, &Options { threads, save })?;
    let wall = begun.elapsed().as_secs_f64();
    let TraceAnswer::Ios(report) = answer else { return Err("it holds no single I/Os".into()) };
    let h = &report.completeness;
    let answer = serde_json::json!({
        "events": h.events, "ios": h.ios, "matched": h.matched, "ambiguous": h.ambiguous,
        "wall_s": wall, "peak_memory_kib": peak_kib()?,
    });
    writeln!(std::io::stdout(), "{answer}")?;
    Ok(())
}

fn peak_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}

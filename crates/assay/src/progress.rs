//! The progress bar: the trial, the treatment, the running estimate and the time left. It is drawn
//! only on a terminal; otherwise only warnings are printed, to standard error.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use assay_lab::{Progress, Watcher};
use assay_model::{RunId, TrialOutcome, TrialRecord, units};
use assay_report::terminal::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Minimum time between two redraws, so that drawing does not slow down short trials.
const REDRAW: Duration = Duration::from_millis(100);

/// Progress bar that follows a run on the terminal.
pub struct Bar {
    line: ProgressBar,
    terminal: bool,
    quiet: bool,
    drawn: Option<Instant>,
    /// Name of the experiment, shortened and printable.
    name: String,
    message: String,
}

impl Bar {
    /// Returns a bar on standard error with the name of the experiment; hidden if standard error is
    /// not a terminal or `quiet` is set.
    pub fn new(experiment: &str, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let target =
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Bar {
            line: ProgressBar::with_draw_target(None, target),
            terminal,
            quiet,
            drawn: None,
            name: shorten(&printable(experiment)),
            message: String::new(),
        }
    }
}

impl Watcher for Bar {
    fn every(&self) -> Option<Duration> {
        self.terminal.then_some(Duration::from_secs(1))
    }

    fn say(&mut self, sentence: &str) {
        if !self.quiet {
            self.line.suspend(|| crate::screen::say(sentence));
        }
    }

    fn registered(&mut self, _run: &RunId, trials: usize) {
        if self.terminal {
            self.line.set_length(trials as u64);
            let style = ProgressStyle::with_template("{prefix} [{bar:16}] {pos}/{len} {wide_msg}");
            if let Ok(style) = style {
                self.line.set_style(style.progress_chars("=> "));
            }
            self.line.set_prefix(self.name.clone());
        }
    }

    fn started(&mut self, progress: &Progress<'_>) {
        let due = self.drawn.is_none_or(|at| at.elapsed() >= REDRAW);
        if !self.terminal || !due {
            return;
        }
        self.drawn = Some(Instant::now());
        let left = progress.left.map(|left| format!("{} left  ", clock(left))).unwrap_or_default();
        let estimate = progress
            .estimate
            .as_ref()
            .map(|(value, unit)| format!(" ~{}", printable(&units::format_value(*value, unit))))
            .unwrap_or_default();
        let label = shorten(&printable(&progress.treatment.label()).replace('\n', " "));
        self.message = format!("{left}{label}{estimate}");
        self.line.set_length(progress.total as u64);
        self.line.set_position(progress.done as u64);
        self.line.set_message(self.message.clone());
    }

    fn tick(&mut self, progress: Option<f64>) {
        if !self.terminal {
            return;
        }
        if let Some(progress) = progress {
            let due = self.drawn.is_none_or(|at| at.elapsed() >= REDRAW);
            if due {
                self.drawn = Some(Instant::now());
                self.line.set_message(format!("{} {:.0} %", self.message, progress * 100.0));
            }
        } else {
            self.line.tick();
        }
    }

    fn ended(&mut self, record: &TrialRecord) {
        let failed = !matches!(record.outcome, TrialOutcome::Completed | TrialOutcome::Interrupted);
        if failed {
            let sentence = format!("trial {} failed: {}", record.number, record.error);
            self.say(&sentence);
        }
        for finding in &record.findings {
            if finding.severity == assay_model::Severity::Invalid {
                let sentence = format!("trial {}: {}", record.number, finding.message);
                self.say(&sentence);
            }
        }
    }

    fn finished(&mut self) {
        self.line.finish_and_clear();
    }
}

/// Formats the time left, such as `0:09`, `12:30` or `1:02:03`.
fn clock(left: Duration) -> String {
    let s = left.as_secs_f64().ceil() as u64;
    if s < 3600 {
        format!("{}:{:02}", s / 60, s % 60)
    } else {
        format!("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60)
    }
}

/// Returns the end of a label that is too long for the line: labels of treatments differ there more
/// often.
fn shorten(label: &str) -> String {
    const MAX_WIDTH: usize = 24;
    let n = label.chars().count();
    if n <= MAX_WIDTH {
        label.to_owned()
    } else {
        format!("…{}", label.chars().skip(n + 1 - MAX_WIDTH).collect::<String>())
    }
}

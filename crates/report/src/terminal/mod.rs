//! Tables and summaries for a terminal. Every function returns text that ends in a newline and is
//! never wider than [`Style::width`] columns: long labels are shortened in the middle, and a table
//! that still does not fit is written row under row. Colour only repeats the words and never
//! carries information alone. Control characters in labels and messages are replaced, so that a
//! program's output cannot control the terminal.

mod archive;
mod audit;
mod curve;
mod io;
mod io_distribution;
mod io_iostat;
mod io_places;
mod io_time;
mod landscape;
mod plan;
mod result;
mod run;
mod single;
mod tlb;

pub use crate::document::terminal::writer::{painted, printable, printable_json};
pub use archive::{age, archive};
pub use audit::{audit, auditable};
pub use io::io;
pub use io_distribution::printed;
pub use io_iostat::iostat;
pub use io_time::{io_tick_header, io_tick_line, io_ticks, time_of_day};
pub use landscape::{landscape, landscape_list, matrix};
pub use plan::{PlanView, plan};
pub use result::{Detail, result};
pub use run::run;
pub use tlb::{simulation, tlb};

pub use crate::parts::profile::Threads;
pub use crate::style::Style;
pub use assay_chart::axes::text::Glyphs;

use assay_model::{Across, Analysis, Explanation, Finding, RunSummary, SystemDescription};
use assay_traces::profile::Profile;
use assay_traces::syscalls::{Dimension, Syscalls};

use crate::document::{DocumentPart, Parts, ShownFinding};
use crate::parts::system::{counted, described, key_facts};
use crate::{TreatmentProfiles, document, parts, tracers};

/// Formats a comparison of runs: the values and ratios by treatment, the other differences, the
/// findings, the counts of the block I/O tracer, and the differences inside the programs. `runs`
/// are in the order of [`Across::runs`].
pub fn across(
    runs: &[RunSummary],
    across: &Across,
    io: &[Across],
    inside: &[TreatmentProfiles],
    style: Style,
) -> String {
    let mut all = parts::across::across(runs, across, &|_| None);
    all.table(parts::across::io(io));
    all.append(crate::inside::tables(inside));
    document::terminal::parts(&all, style)
}

/// Formats the profile with at most `most` functions per side.
pub fn profile(profile: &Profile, most: usize, threads: Threads, style: Style) -> String {
    document::terminal::parts(&parts::profile::whole(profile, most, threads), style)
}

/// Formats the calls by these dimensions, with at most `most` lines per table.
pub fn syscalls(seen: &Syscalls, by: &[Dimension], most: usize, style: Style) -> String {
    document::terminal::parts(&tracers::syscalls::whole(seen, by, most), style)
}

/// Formats the key facts of a system, with the reasons for those that could not be read, and the
/// number of all recorded facts.
pub fn system(system: &SystemDescription, style: Style) -> String {
    let mut all = Parts::default();
    all.titled(described(system));
    let key = key_facts(system).into_iter().map(|(name, _, value)| (name, value));
    all.push(DocumentPart::Pairs(key.collect()));
    all.note(counted(system));
    document::terminal::parts(&all, style)
}

/// Formats the observations that differ along with a metric; `analysis` is that of the run.
pub fn explain(analysis: &Analysis, explanation: &Explanation, style: Style) -> String {
    document::terminal::parts(&parts::explain::alone(analysis, explanation), style)
}

/// Formats findings, most severe first, each with its remedy; or a sentence for an empty list.
pub fn findings(findings: &[Finding], style: Style) -> String {
    let found = DocumentPart::Findings(findings.iter().map(ShownFinding::whole).collect());
    document::terminal::parts(&Parts::from_part(found), style)
}

#[cfg(test)]
mod tests {
    use assay_chart::axes::text::columns;

    use super::*;
    use crate::{fixtures, headline};

    fn everything(style: Style) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for (name, view) in fixtures::all() {
            let a = &view.analysis;
            let mut add = |what: &str, text: String| all.push((format!("{name} {what}"), text));
            add("findings", findings(&a.findings, style));
            add("run", run(&view, style));
            add("system", system(&view.system, style));
            let said =
                headline(a).map(|text| (view.summary.id.clone(), text)).into_iter().collect();
            let started: jiff::Timestamp = view.summary.started_at.parse().unwrap();
            let later = std::time::SystemTime::from(started) + std::time::Duration::from_secs(7200);
            add("archive", archive(std::slice::from_ref(&view.summary), &said, later, style));
            add("results", document::terminal::parts(&run::results(&view, style), style));
            let plan_view = PlanView {
                plan: &view.plan,
                stop_rule: "after the planned blocks",
                time: "about 3 min 12 s",
                detectable: "a difference of 1.8 % in 80 of 100 repeats",
                lines: &["zstd -1 a-file".to_owned()],
            };
            add("plan", plan(&plan_view, style));
            let summaries = [view.summary.clone(), view.summary.clone()];
            add("across", across(&summaries, &fixtures::across(&view), &[], &[], style));
            add("result", result(&view, Detail::Full, style));
            add("brief", result(&view, Detail::Brief, style));
        }
        all
    }

    #[test]
    fn a_comparison_of_two_commands_fits_ten_lines() {
        let text = result(&fixtures::commands(), Detail::Brief, Style::default());
        assert!(text.lines().filter(|l| !l.is_empty()).count() <= 10, "{text}");
        let first =
            "zstd -1 -kf corpus is faster; -3 -kf corpus takes 1.371× as long [1.355, 1.388].\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("\nwarning: ") && text.contains("; stop what"), "{text}");
    }

    #[test]
    fn findings_of_one_check_share_their_remedy() {
        let about = |row: &assay_model::CheckRow, text: &str| {
            row.finding(assay_model::FiredCheck::new(text))
        };
        let (busy, noisy) = (&assay_checks::rows::QUIET_HOST, &assay_checks::rows::CLOCK_AND_HEAT);
        let all = [about(busy, "one"), about(noisy, "hot"), about(busy, "two")];
        let text = findings(&[all[0].clone(), all[2].clone(), all[1].clone()], Style::default());
        assert_eq!(text.matches("remedy: ").count(), 2, "{text}");
        for f in &all {
            assert!(text.contains(&f.message), "{text}");
        }
    }

    #[test]
    fn nothing_is_ever_wider_than_the_terminal() {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            for width in [1, 20, 33, 40, 60, 80, 100, 200] {
                let style = Style { width, glyphs, colour: false };
                for (what, text) in everything(style) {
                    for line in text.lines() {
                        assert!(
                            columns(line) <= width.max(20),
                            "{what} at {width}: {} columns: {line}",
                            columns(line)
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn ascii_is_ascii_and_plain_is_plain() {
        let style = Style { glyphs: Glyphs::Ascii, ..Style::default() };
        for (what, text) in everything(style) {
            let text = text.replace('µ', "u");
            let stray: String = text.chars().filter(|c| !c.is_ascii()).collect();
            assert!(stray.is_empty() || stray.chars().all(|c| c == '\u{FFFD}'), "{what}: {stray}");
            assert!(!text.contains('\u{1b}'), "{what}");
        }
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        for width in [60, 80, 120] {
            let plain = Style { width, ..Style::default() };
            let painted = Style { colour: true, ..plain };
            for ((what, a), (_, b)) in everything(plain).into_iter().zip(everything(painted)) {
                assert_eq!(a, strip(&b), "{what}");
            }
        }
    }

    fn strip(text: &str) -> String {
        let mut out = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == '\u{1b}' {
                for d in chars.by_ref() {
                    if d == 'm' {
                        break;
                    }
                }
            } else {
                out.push(c);
            }
        }
        out
    }

    #[test]
    fn reads_as_before_at_80_columns() {
        for (what, text) in everything(Style::default()) {
            insta::assert_snapshot!(what.replace(' ', "-"), text);
        }
    }
}

//! The functions that made a difference between two revisions, which a history, a gate and a
//! bisection print last.

use assay_stats::series::Functions;
use assay_traces::profile::FunctionChange;
use maud::Markup;

use super::short;
use crate::document::{Parts, html, markdown, terminal};
use crate::parts::io::time;
use crate::parts::profile::changes;
use crate::run_pairs::shown;
use crate::terminal::Style;

fn named(c: &FunctionChange) -> String {
    let sign = if c.difference_ns > 0.0 { "+" } else { "" };
    let lacks = match c.total_ns {
        [0.0, _] => ", not in the samples before",
        [_, 0.0] => ", not in the samples after",
        _ => "",
    };
    format!("`{}` ({sign}{} on CPU a trial{lacks})", c.function, time(c.difference_ns))
}

/// Describes the functions that differ in one sentence.
pub fn functions_sentence(f: &Functions) -> String {
    let Some(d) = &f.differences else {
        let why = f.why.as_deref().unwrap_or("unknown");
        return format!("the functions behind it are unknown: {why}");
    };
    let clear: Vec<String> = d.changes.iter().filter(|c| c.clear).map(named).collect();
    match clear.as_slice() {
        [] => format!(
            "no function differs clearly between {} and {} in {} and {} profiled trials",
            short(&f.before),
            short(&f.after),
            d.trials[0],
            d.trials[1]
        ),
        [one] => format!("the function that differs: {one}"),
        [first, second] => format!("the functions that differ: {first}, {second}"),
        [first, second, rest @ ..] => {
            format!("the functions that differ: {first}, {second} and {} more", rest.len())
        }
    }
}

fn parts(f: &Functions) -> Parts {
    let mut out = Parts::default();
    if let Some(d) = &f.differences {
        let clear = d.changes.iter().filter(|c| c.clear).count();
        out.append(changes(d, [short(&f.before), short(&f.after)], shown(clear)));
    }
    out
}

/// Formats the table for a terminal; empty if nothing was compared.
pub fn functions_text(f: &Functions, style: Style) -> String {
    terminal::parts(&parts(f), style)
}

/// Formats the table as Markdown.
pub fn functions_markdown(f: &Functions) -> String {
    markdown::parts(&parts(f))
}

/// Renders the table for a page.
pub(super) fn functions_html(f: &Functions) -> Markup {
    html::parts(&parts(f))
}

#[cfg(test)]
mod tests {
    use assay_traces::profile::{
        Frame, FrameKind, FunctionDifferences, FunctionTime, ProfiledTrial, differences,
    };

    use super::*;

    fn trials(functions: &[(&str, u64)]) -> Vec<ProfiledTrial> {
        let of = |(name, ms): &(&str, u64)| FunctionTime {
            frame: Frame {
                name: Some((*name).to_owned()),
                module: "/bin/p".into(),
                kind: FrameKind::User,
            },
            self_ns: ms * 1_000_000,
            total_ns: ms * 1_000_000,
            self_count: *ms,
            total_count: *ms,
        };
        let sampled_ns = functions.iter().map(|f| f.1 * 1_000_000).sum();
        let functions = functions.iter().map(of).collect();
        vec![ProfiledTrial { functions, sampled_ns, exact_ns: None }; 5]
    }

    #[test]
    fn functions_that_one_side_lacks_are_marked() {
        let found: FunctionDifferences = differences(
            &trials(&[("old", 400), ("same", 500)]),
            &trials(&[("new", 900), ("same", 500)]),
            0.95,
        );
        let functions = Functions {
            before: "a".into(),
            after: "b".into(),
            run: None,
            differences: Some(found),
            why: None,
        };
        let sentence = functions_sentence(&functions);
        assert!(
            sentence.contains("`new` (+900 ms on CPU a trial, not in the samples before)"),
            "{sentence}"
        );
        let table = functions_markdown(&functions);
        assert_eq!(table.matches("not in its samples").count(), 2, "{table}");
    }
}

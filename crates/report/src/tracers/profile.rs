//! Profiles of the trials: for each treatment, flame graphs and tables of all its trials together,
//! and the functions that differ from the baseline's.

use std::fmt::Write as _;

use assay_chart::Head;
use assay_chart::flame::{Flame, FlameCell, FlameStyle, render};
use assay_model::units::format_value_digits;
use assay_traces::profile::{
    FILE, FrameKind, FunctionDifferences, Node, Profile, ProfileSide, ProfiledTrial, Tree,
    differences, tree,
};
use maud::{Markup, html};

use super::trial_groups::{self, MAX_ROWS, MAX_SIDES, TrialGroup};
use super::view::{TraceDifference, TracerView, TreatmentPair};
use crate::document::html::{self, figure};
use crate::parts::profile::{self as parts, Threads};

pub(super) const VIEW: TracerView = TracerView {
    tab: ("profiles", "Profile"),
    section: ("profile", "Profile"),
    run: |view| trial_groups::of_treatments(view, &FILE, side_by_side),
    runs: |views, shown| trial_groups::of_runs(views, shown, &FILE, side_by_side),
    difference: Some(("functions", difference)),
};

/// Largest number of functions listed for each thread.
const FUNCTIONS_OF_A_THREAD: usize = 5;
/// Smallest cell that is drawn, as a share of the whole.
const MIN_SHARE: f64 = 0.001;
/// Maximum depth of a flame graph, in functions.
const MAX_DEPTH: usize = 100;

/// Renders profiles side by side, each merged from all trials of its side, with the differences
/// from the first side; `None` if no trial was profiled.
fn side_by_side(groups: Vec<TrialGroup<'_, Profile>>, confidence: f64) -> Option<Markup> {
    let mut drawn = Vec::new();
    for TrialGroup { id, label, trials } in groups.into_iter().filter(|s| !s.trials.is_empty()) {
        let measured = measured(&trials);
        drawn.push((id, label, Profile::merged(trials), measured));
    }
    let (_, first, _, baseline) = drawn.first()?;
    let against: Vec<Option<FunctionDifferences>> = drawn
        .iter()
        .enumerate()
        .map(|(i, side)| (i > 0).then(|| differences(baseline, &side.3, confidence)))
        .collect();
    Some(html! {
        p { "Where the time of the program and of what it started went, its trials together. Each \
            box is a function, as wide as its time; below it stands what it called." }
        @for ((_, label, ..), d) in drawn.iter().zip(&against) {
            @if let Some(d) = d { (html::parts(&parts::changes(d, [first, label], MAX_ROWS))) }
        }
        @for ((id, label, profile, measured), d) in drawn.iter().zip(&against).take(MAX_SIDES) {
            h3 { (label) }
            @let n = measured.len();
            p.soft { (n) @if n == 1 { " trial" } @else { " trials together" } }
            (body(profile, id, d.as_ref()))
        }
        @let left = drawn.len().saturating_sub(MAX_SIDES);
        @if left > 0 { p.soft { (left) " more have profiles in the record, not drawn here." } }
    })
}

fn measured(profiles: &[&Profile]) -> Vec<ProfiledTrial> {
    profiles.iter().map(|p| ProfiledTrial::from_profile(p, ProfileSide::OnCpu)).collect()
}

fn difference(pair: &TreatmentPair<'_>) -> Option<TraceDifference> {
    let [first, second] = pair.sides.map(|(view, t)| measured(&view.traces_of(&FILE, t)));
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let d = differences(&first, &second, pair.confidence);
    let clear = d.changes.iter().filter(|c| c.clear).count();
    Some(TraceDifference::new(pair, &d, clear, parts::changes))
}

/// Renders one profile: flame graphs, tables and notes. `id` is unique on the page.
fn body(profile: &Profile, id: &str, against: Option<&FunctionDifferences>) -> Markup {
    let sides = [
        (ProfileSide::OnCpu, "on", "Time on CPU"),
        (ProfileSide::OffCpu, "off", "Time off CPU, by reason"),
    ];
    html! {
        (html::parts(&parts::head(profile)))
        @if let Some(t) = parts::states(profile) { (html::table(&t)) }
        @for (side, short, words) in sides { @if profile.count(side) > 0 {
            @let id = format!("{id}-{short}");
            (figure(&flame(profile, side, &id, words, Threads::Merged, against), words))
            (html::table(&parts::table(profile, side, MAX_ROWS)))
            @if profile.stacks.iter().any(|s| s.thread != profile.stacks[0].thread) {
                details { summary { (words) ", threads apart" }
                    @let id = format!("{id}-threads");
                    @let chart = flame(profile, side, &id, words, Threads::Apart, None);
                    (figure(&chart, format!("{words}, by thread")))
                    (html::table(&parts::by_thread(profile, side, FUNCTIONS_OF_A_THREAD)))
                }
            }
        } }
        @let notes = parts::notes(profile);
        @if !notes.is_empty() { ul.soft { @for n in notes { li { (n) } } } }
    }
}

/// Draws one side of a profile as an icicle, coloured by the functions that clearly differ.
pub fn flame(
    profile: &Profile,
    side: ProfileSide,
    id: &str,
    words: &str,
    threads: Threads,
    against: Option<&FunctionDifferences>,
) -> Markup {
    let by_thread = threads == Threads::Apart;
    let how = Tree { side, by_thread, least: MIN_SHARE, deepest: MAX_DEPTH };
    let root = tree(profile, how);
    let against = against.filter(|_| side == ProfileSide::OnCpu);
    let timed = profile.unit == "ns";
    let all = root.ns.max(1) as f64;
    let desc = format!(
        "An icicle of {} levels; each box is a function, as wide as its share. The table below it \
         has the functions with their times.",
        root.depth()
    );
    let head = Head { id: format!("profile-{id}"), title: words.to_owned(), desc };
    let chart = Flame { head, root: cell(&root, all, timed, against) };
    render(&chart)
}

fn cell(node: &Node, all: f64, timed: bool, against: Option<&FunctionDifferences>) -> FlameCell {
    let module = node.module.rsplit('/').next().unwrap_or_default();
    let change = against.and_then(|d| {
        let kernel = node.kind == Some(FrameKind::Kernel);
        d.changes.iter().find(|c| c.clear && c.function == node.label && c.kernel == kernel)
    });
    let look = match (change, node.kind) {
        (Some(c), _) if c.difference_ns > 0.0 => FlameStyle::More,
        (Some(_), _) => FlameStyle::Less,
        (None, None) => FlameStyle::Group,
        (None, Some(_)) if node.label.starts_with("[unknown]") => FlameStyle::Unknown,
        (None, Some(FrameKind::User)) => FlameStyle::User,
        (None, Some(FrameKind::Kernel)) => FlameStyle::Kernel,
        (None, Some(FrameKind::Inlined)) => FlameStyle::Inlined,
    };
    let size =
        if timed { format_value_digits(node.ns as f64 / 1e9, "s", 3) } else { node.ns.to_string() };
    let mut title = format!("{} · {size}, {:.2} %", node.label, 100.0 * node.ns as f64 / all);
    if !module.is_empty() {
        let _ = write!(title, " · {module}");
    }
    if node.kind == Some(FrameKind::Inlined) {
        title += " · inlined";
    }
    if let Some(c) = change {
        let more = if c.difference_ns > 0.0 { "more" } else { "less" };
        let _ = write!(
            title,
            " · own time clearly {more}: {} a trial",
            format_value_digits(c.difference_ns / 1e9, "s", 3)
        );
    }
    let below = node.children.iter().map(|n| cell(n, all, timed, against)).collect();
    FlameCell { label: node.label.clone(), title, look, size: node.ns as f64, below }
}

/// Renders a profile as a part of a page that has no other profile.
pub fn profile_part(profile: &Profile) -> Markup {
    body(profile, "p", None)
}

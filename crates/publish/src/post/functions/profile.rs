//! `profile`: the time of a run's treatment by function, and the functions that differ from
//! another's.

use assay_traces::profile::{
    FILE, FunctionDifferences, Profile, ProfileSide, ProfiledTrial, differences, functions,
};

use crate::post::arguments::Arguments;
use crate::post::document::PostBlock;
use crate::post::error::{Result, suggestion};
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::operand::on_host;
use assay_report::document::{DocumentPart, Figure, Parts};
use assay_report::page::flame;
use assay_report::parts::profile::{self as parts, Threads};
use assay_report::{RunView, WithheldResult};

/// Default number of functions in a table.
const FUNCTIONS: usize = 10;
/// Largest number of functions that a call can request.
const MAX_ROWS: usize = 100;
/// Functions that formats without pictures name.
const NAMED: usize = 5;

/// The profiled trials of one treatment of a run.
struct ProfiledTreatment<'a> {
    label: String,
    view: &'a RunView,
    trials: Vec<&'a Profile>,
    withheld: Option<String>,
}

/// Draws a flame graph and a table of the functions; with `than`, the graph is coloured by the
/// differences, and the table lists them.
pub(super) fn profile<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let side = match a.text("side")?.unwrap_or("on") {
        "on" => ProfileSide::OnCpu,
        "off" => ProfileSide::OffCpu,
        other => {
            let help = suggestion(other, &["on", "off"]);
            return Err(a.error("side", format!("there is no side `{other}`"), help));
        }
    };
    let most = a.count("top", MAX_ROWS)?.unwrap_or(FUNCTIONS);
    if a.get("than").is_some() && side == ProfileSide::OffCpu {
        let help = "leave out `side` or `than`";
        return Err(a.error("side", "functions are compared by their time on CPU", help));
    }
    let of = taken(e, a, "of")?;
    let than = a.get("than").map(|_| taken(e, a, "than")).transpose()?;
    let mut out = Parts::default();
    for side in [Some(&of), than.as_ref()].into_iter().flatten() {
        if let Some(why) = &side.withheld {
            out.note(format!("The profile of {} is withheld: {why}", side.label));
            return Ok(CallResult::Block(PostBlock::Parts(out)));
        }
    }
    let merged = Profile::merged(of.trials.iter().copied());
    if merged.count(side) == 0 {
        let message = format!("the profile of {} has no time of that side", of.label);
        return Err(a.error("of", message, ""));
    }
    let against = than.as_ref().map(|than| changes(&of, than));
    let typed = e.typed_argument(a, "title", "title of a chart")?;
    let title = typed.unwrap_or_else(|| title(&of, than.as_ref(), side));
    let id = format!("post-{}", e.blocks.len() + 1);
    let chart = flame(&merged, side, &id, &title, Threads::Merged, against.as_ref());
    let trials = assay_report::figures::count(of.trials.len(), "trial");
    let caption = format!("{title}; {trials} of run {}", of.view.summary.id);
    let words = words(&merged, side);
    out.push(DocumentPart::Figure(Figure {
        chart,
        caption: caption.into(),
        words,
        under: Parts::default(),
    }));
    match (&against, &than) {
        (Some(d), Some(than)) => out.append(parts::changes(d, [&than.label, &of.label], most)),
        _ => out.table(parts::table(&merged, side, most)),
    }
    out.notes(parts::notes(&merged));
    Ok(CallResult::Block(PostBlock::Parts(out)))
}

/// Returns the profiled trials of `run` or `run@treatment`.
fn taken<'a>(
    e: &mut Evaluator<'a>,
    a: &Arguments<'a>,
    name: &str,
) -> Result<ProfiledTreatment<'a>> {
    let written = a.text(name)?.unwrap_or_default();
    let span = a.span_of(name);
    let (alias, treatment) = written.split_once('@').unwrap_or((written, ""));
    let view = e.view(alias, span.clone())?;
    let id = e.treatment(view, treatment, &span)?;
    let trials = view.traces_of(&FILE, id);
    let label = on_host(&view.label(id), view);
    if trials.is_empty() {
        let message = format!("no trial of {label} in run {} was profiled", view.summary.id);
        return Err(a.error(name, message, "`[observe] tracers = [\"profile\"]` profiles trials"));
    }
    e.shown.entry(alias.to_owned()).or_default().insert(id);
    let withheld = e.gates[alias].treatment(id).map(WithheldResult::reason);
    Ok(ProfiledTreatment { label, view, trials, withheld })
}

fn changes(of: &ProfiledTreatment<'_>, than: &ProfiledTreatment<'_>) -> FunctionDifferences {
    let measured = |side: &ProfiledTreatment<'_>| -> Vec<ProfiledTrial> {
        side.trials.iter().map(|p| ProfiledTrial::from_profile(p, ProfileSide::OnCpu)).collect()
    };
    differences(&measured(than), &measured(of), of.view.experiment.compare.confidence)
}

fn title(
    of: &ProfiledTreatment<'_>,
    than: Option<&ProfiledTreatment<'_>>,
    side: ProfileSide,
) -> String {
    let what = if side == ProfileSide::OnCpu { "Time on CPU" } else { "Time off CPU" };
    match than {
        Some(than) => format!("{what}: {} against {}", of.label, than.label),
        None => format!("{what}: {}", of.label),
    }
}

/// Names the functions with most own time, for formats without pictures.
fn words(profile: &Profile, side: ProfileSide) -> String {
    let all = profile.total_ns(side).max(1) as f64;
    functions(profile, side, None)
        .iter()
        .take(NAMED)
        .map(|f| format!("{}: {:.1} %", f.frame.label(), 100.0 * f.self_ns as f64 / all))
        .collect::<Vec<_>>()
        .join("; ")
}

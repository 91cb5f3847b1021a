//! The thread that submits what is due by a schedule. A missed time is made up for once, and
//! reported.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::app::App;
use crate::change;
use crate::job::{Job, JobState, Scheduled};
use crate::queue::now;
use crate::schedule::{Due, Last, Schedule};

/// The thread looks again after this, also when nothing happened: clocks are set.
const LOOK: Duration = Duration::from_secs(30);

/// Submits what is due until the server stops.
pub(crate) fn run(app: &Arc<App>) {
    while !app.stopping() {
        let all = app.schedules().list();
        let mut soonest: Option<Timestamp> = None;
        for schedule in all {
            let now = Timestamp::now();
            match schedule.due(now) {
                Due::At(at) => soonest = Some(soonest.map_or(at, |s| s.min(at))),
                Due::Anew(next) => app.schedules().done(schedule, next, None),
                Due::Now { due, missed, late } => {
                    let last = submit(app, &schedule, due, missed, late);
                    let next = schedule.every().map_or(Timestamp::MAX, |e| e.next(now));
                    app.schedules().done(schedule, next, Some(last));
                }
            }
        }
        let left = soonest.map(|at| at.duration_since(Timestamp::now()));
        let left = left.map_or(LOOK, |l| Duration::try_from(l).unwrap_or_default());
        let wait = left.clamp(Duration::from_millis(50), LOOK);
        let schedules = app.schedules();
        if !app.stopping() {
            drop(
                app.rescheduled
                    .wait_timeout(schedules, wait)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
    }
}

/// Submits a schedule's experiment for the time `due`.
fn submit(app: &Arc<App>, schedule: &Schedule, due: Timestamp, missed: u64, late: bool) -> Last {
    let of = Scheduled { schedule: schedule.id, due: due.to_string() };
    let mut notes = Vec::new();
    if missed > 0 {
        notes.push(format!("{missed} earlier times were missed and are not made up for"));
    }
    if late {
        notes.push(format!("it was due at {due}, when no server ran; it is made up for once"));
    }
    let (before, same) = {
        let queue = app.queue();
        let own = |j: &&Job| j.scheduled.as_ref().is_some_and(|s| s.schedule == schedule.id);
        let before = queue.all().filter(own).find(|j| !j.state.is_over()).map(|j| (j.id, j.state));
        let same = queue.all().find(|j| j.scheduled.as_ref() == Some(&of)).map(|j| j.id);
        (before, same)
    };
    let mut job = None;
    if same.is_some() {
        // It was submitted, and the server ended before that was written down.
        job = same;
    } else if let Some((id, state)) = before {
        let does = if state == JobState::Running { "still runs" } else { "still waits" };
        notes.push(format!("job {id} of the time before {does}; nothing was submitted"));
    } else {
        let made = change::job(app, &schedule.submit).and_then(|made| match made {
            change::Made::Nothing(why) => Ok(Err(why)),
            change::Made::Job(mut new) => {
                new.job.scheduled = Some(of);
                new.job.changes.extend(notes.iter().cloned());
                Ok(Ok(app.queue().add(*new)?))
            }
        });
        match made {
            Ok(Ok(new)) => job = Some(new.id),
            Ok(Err(why)) => notes.push(why),
            Err(refusal) => notes.push(refusal.message),
        }
        app.touch();
    }
    Last { due: due.to_string(), at: now(), job, note: notes.join("; ") }
}

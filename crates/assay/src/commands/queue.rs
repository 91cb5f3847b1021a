//! `assay submit`, `pending`, `wait`, `cancel` and `resume`: the queue of a server, from the shell.

use std::path::Path;

use anyhow::{Context, Result};
use assay_server::{Client, Job, JobState};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arguments::Global;
use crate::commands::server_args::{JobArgs, ServerArgs, Submit};
use crate::exit::{Exit, Usage};
use crate::screen::{answer, print, print_json, say};

/// Seconds that the server is asked to wait for the end of the job before it answers.
const TIMEOUT: u32 = 30;
/// Maximum number of finished jobs that are shown.
const SHOWN: usize = 10;

fn client(server: &ServerArgs) -> Result<Client> {
    let token = std::env::var("ASSAY_TOKEN").ok().filter(|t| !t.trim().is_empty());
    let state_dir = assay_system::state_dir();
    Ok(Client::find(&state_dir, server.server.as_deref(), token.as_deref())?)
}

fn job_of(value: &Value) -> Result<Job> {
    serde_json::from_value(value.clone())
        .context("the server describes jobs in an unknown format; is it another version of assay?")
}

fn show(global: &Global, made: &impl Serialize, text: &str) -> Result<Exit> {
    answer(global.json, made, || text.to_owned()).map(|()| Exit::Fine)
}

/// Submits an experiment to the queue.
pub fn submit(global: &Global, asked: &Submit) -> Result<Exit> {
    let mut set = Map::new();
    for change in &asked.set {
        let (name, value) = change
            .split_once('=')
            .ok_or_else(|| Usage(format!("--set {change} has no `=`; write --set NAME=VALUE")))?;
        set.insert(name.trim().to_owned(), value.trim().into());
    }
    let path = Path::new(&asked.experiment);
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default();
    let mut body = json!({
        "experiment": asked.experiment, "set": set, "blocks": asked.blocks, "tags": asked.tag,
        "rev": asked.rev, "reference": asked.reference,
        "not_before": asked.at, "first": asked.first, "by": user,
    });
    // The text of a file is sent too; the server accepts it if a file in its folders has the same
    // text.
    if path.extension().is_some_and(|e| e == "toml") {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Usage(format!("read {}: {e}", path.display())))?;
        body["experiment"] = path.file_stem().unwrap_or_default().to_string_lossy().into();
        body["toml"] = text.into();
    }
    let client = client(&asked.server)?;
    let job = job_of(&client.post("jobs", &body)?)?;
    if asked.wait {
        if !global.json {
            say(&format!("job {}: {}", job.id, job.experiment));
        }
        return until_over(global, &client, job.id);
    }
    show(
        global,
        &job,
        &format!("job {}: {}, {} trials planned", job.id, job.experiment, job.trials),
    )
}

/// Lists the running, waiting and finished jobs.
pub fn pending(global: &Global, server: &ServerArgs) -> Result<Exit> {
    let queue = client(server)?.get("jobs")?;
    if global.json {
        return print_json(&queue).map(|()| Exit::Fine);
    }
    let jobs = |name: &str| -> Result<Vec<Job>> {
        queue[name].as_array().map_or(Ok(Vec::new()), |all| all.iter().map(job_of).collect())
    };
    let mut text = String::new();
    let running = if queue["running"].is_null() { None } else { Some(job_of(&queue["running"])?) };
    let waiting = jobs("waiting")?;
    let over = jobs("over")?;
    let lists = [
        ("Running", running.into_iter().collect::<Vec<_>>()),
        ("Waiting", waiting),
        ("Finished", over.into_iter().take(SHOWN).collect()),
    ];
    for (title, jobs) in lists {
        text.push_str(title);
        text.push('\n');
        if jobs.is_empty() {
            text.push_str("  nothing\n");
        }
        for job in jobs {
            text.push_str(&line(&job));
        }
    }
    print(&text).map(|()| Exit::Fine)
}

/// Formats a job in a line of 80 characters, and a second line if there is more to report.
fn line(job: &Job) -> String {
    let name: String = job.experiment.chars().take(28).collect();
    let run = job.run.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("  {:>5}  {:<28}  {:<11}  {:<20}", job.id, name, job.state.name(), run);
    text.truncate(text.trim_end().len());
    text.push('\n');
    let mut more = Vec::new();
    if let Some(at) = job.not_before.as_ref().filter(|_| job.state == JobState::Waiting) {
        more.push(format!("not before {at}"));
    }
    if !job.changes.is_empty() && !job.state.is_over() {
        more.push(job.changes.join(", "));
    }
    if job.state.is_over() && job.state != JobState::Completed {
        let first = job.reason.lines().next().unwrap_or_default();
        more.push(first.to_owned());
    }
    if job.can_resume() {
        more.push(format!("`assay resume {}` continues it", job.id));
    }
    if !more.is_empty() {
        text.push_str(&crate::screen::wrap(&more.join("; "), "         ", "         "));
        text.push('\n');
    }
    text
}

/// Waits until a job has finished.
pub fn wait(global: &Global, of: &JobArgs) -> Result<Exit> {
    until_over(global, &client(&of.server)?, of.job)
}

fn until_over(global: &Global, client: &Client, id: u64) -> Result<Exit> {
    loop {
        let job = job_of(&client.get(&format!("jobs/{id}?wait={TIMEOUT}"))?)?;
        if !job.state.is_over() {
            continue;
        }
        let run = job.run.as_ref().map(|r| format!(", run {r}")).unwrap_or_default();
        let text = format!("job {id} is {}{run}: {}", job.state.name(), job.reason);
        show(global, &job, &text)?;
        return Ok(exit_of(&job));
    }
}

/// Returns the exit code of the job's run, or one that fits the job's state if that is unknown.
fn exit_of(job: &Job) -> Exit {
    let known = [
        Exit::Fine,
        Exit::Failed,
        Exit::Usage,
        Exit::Workload,
        Exit::Rule,
        Exit::Worse,
        Exit::Nothing,
        Exit::Interrupted,
    ];
    let same = job.exit.and_then(|code| known.into_iter().find(|k| *k as i32 == code));
    same.unwrap_or(match job.state {
        JobState::Completed => Exit::Fine,
        JobState::Cancelled | JobState::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    })
}

/// Cancels a job of the queue.
pub fn cancel(global: &Global, of: &JobArgs) -> Result<Exit> {
    let job = job_of(&client(&of.server)?.post(&format!("jobs/{}/cancel", of.job), &json!({}))?)?;
    let text = if job.state == JobState::Running {
        format!("job {} is being cancelled: its trial ends and the settings are restored", job.id)
    } else {
        format!("job {} is {}", job.id, job.state.name())
    };
    show(global, &job, &text)
}

/// Puts an interrupted job back into the queue.
pub fn resume(global: &Global, of: &JobArgs) -> Result<Exit> {
    let job = job_of(&client(&of.server)?.post(&format!("jobs/{}/resume", of.job), &json!({}))?)?;
    show(global, &job, &format!("job {} is queued to continue", job.id))
}

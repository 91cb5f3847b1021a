//! `assay reproduce`: repeats the experiments behind posts. They run here as far as they can, in
//! the order in which they give answers early; the posts are published with this machine's numbers,
//! and each claim is reported with its result.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use assay_archive::Archive;
use assay_model::units;
use assay_publish::post::{self, LocalOutcome, Post, PostError, Template};
use assay_publish::reproduce::{Reproduced, RequestedExperiment, markdown, plan, terminal};

use super::open::{kit_paths, open_archive};
use super::post::{PublishedPost, bytes, publish_with};
use crate::arguments::{Global, budget};
use crate::commands::publish::args::Publish;
use crate::commands::reproduce::args::Reproduce;
use crate::exit::{Exit, usage};
use crate::screen::{answer_styled, say, style, write_file};
use crate::shipped;

pub mod args;
mod jobs;

use jobs::{ExperimentState, ReproductionJob};

/// Template of a post and its file.
pub(super) struct PostTemplate {
    /// File name of the post, as the table shows it.
    pub name: String,
    pub path: PathBuf,
    pub template: Template,
}

/// Repeats the experiments of a post, or of all posts in a folder, and judges their claims.
pub fn reproduce(global: &Global, asked: &Reproduce) -> Result<Exit> {
    let budget = asked.budget.as_deref().map(budget).transpose()?;
    let posts = posts(&asked.what)?;
    let archive = open_archive(global)?;
    let mut jobs = jobs::from_posts(&posts, &archive, &kit_paths()?)?;
    if asked.plan {
        let rows: Vec<RequestedExperiment> = jobs.iter().map(|job| row(job, &posts)).collect();
        answer_styled(global.json, &rows, || plan(&rows, style()))?;
        return Ok(Exit::Fine);
    }
    let interrupted = run_all(&archive, &mut jobs, budget, asked.wait_for_lock)?;
    let mut exit = if interrupted { Exit::Interrupted } else { Exit::Fine };
    let mut out = Vec::new();
    for (at, read) in posts.iter().enumerate() {
        let publish = publish_of(asked, read);
        let mut keep = |PublishedPost { post, page, refused }: PublishedPost<'_>| {
            if refused {
                say(&format!("{} is not published", read.name));
            }
            out.push(Reproduced {
                post: read.name.clone(),
                title: post.front.title.clone(),
                page: page.map(str::to_owned),
                claims: post.claims.clone(),
            });
            Ok(())
        };
        let known = |post: &mut Post| reasons(post, at, &jobs);
        let code = match publish_with(global, &publish, true, &known, &mut keep) {
            // The runs of this machine lack something that the post names: report the post without
            // its runs.
            Err(e) if e.downcast_ref::<PostError>().is_some() => {
                let mistake =
                    e.downcast_ref::<PostError>().map_or_else(String::new, |e| e.message.clone());
                say(&format!("{}: {mistake}; it is published without its runs", read.name));
                let report = |post: &mut Post| {
                    known(post);
                    for claim in post
                        .claims
                        .iter_mut()
                        .filter(|c| c.not_run && c.here == LocalOutcome::Undecided)
                    {
                        claim.why = format!("the post cannot be computed from the run: {mistake}");
                    }
                };
                publish_with(global, &publish, false, &report, &mut keep)?
            }
            other => other?,
        };
        if exit == Exit::Fine && code != Exit::Fine {
            exit = code;
        }
    }
    let rows: Vec<RequestedExperiment> = jobs.iter().map(|job| row(job, &posts)).collect();
    let json = serde_json::json!({
        "schema_version": assay_model::SCHEMA_VERSION,
        "posts": out,
        "experiments": rows,
    });
    if let Some(folder) = &asked.output {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        write_file(&folder.join("reproduction.md"), markdown(&out, &rows))?;
        write_file(&folder.join("reproduction.json"), serde_json::to_string_pretty(&json)?)?;
    }
    answer_styled(global.json, &json, || terminal(&out, style()))?;
    if interrupted {
        say("interrupted; the same command continues");
    }
    Ok(exit)
}

/// Reads the posts of a folder in the order of their names, or a single post.
fn posts(what: &Path) -> Result<Vec<PostTemplate>> {
    let found = shipped::find(what)?;
    let mut paths = if found.is_dir() {
        let entries = std::fs::read_dir(&found)
            .with_context(|| format!("cannot read {}", found.display()))?;
        entries
            .flatten()
            .map(|e| e.path())
            .filter(|p| p.extension().is_some_and(|e| e == "md"))
            .collect()
    } else {
        vec![found.clone()]
    };
    paths.sort();
    if paths.is_empty() {
        return usage(format!("{} has no post (*.md)", found.display()));
    }
    let read = |path: PathBuf| -> Result<PostTemplate> {
        let shown = path.display().to_string();
        let template = Template::read(&shown, post::decode(&shown, &bytes(&path)?)?)?;
        let name = path.file_name().map_or(shown, |n| n.to_string_lossy().into_owned());
        Ok(PostTemplate { name, path, template })
    };
    paths.into_iter().map(read).collect()
}

/// Runs the experiments that can run until the budget is used up; returns true if it was
/// interrupted.
fn run_all(
    archive: &Archive,
    jobs: &mut [ReproductionJob],
    budget: Option<Duration>,
    wait: bool,
) -> Result<bool> {
    let began = Instant::now();
    for job in jobs.iter_mut() {
        if !matches!(job.state, ExperimentState::Ready | ExperimentState::Interrupted(_)) {
            continue;
        }
        let left = budget.map(|b| b.saturating_sub(began.elapsed()));
        let expected = job.expected();
        if let (Some(left), Some(budget)) = (left, budget) {
            let short = left.is_zero() || expected.is_some_and(|e| e > left);
            if short {
                let takes = expected.map_or("an unknown time".to_owned(), |e| {
                    format!("about {}", units::format_duration(e))
                });
                job.state = ExperimentState::Skipped(format!(
                    "not run: it takes {takes}, and {} of the {} are left",
                    units::format_duration(left),
                    units::format_duration(budget)
                ));
                continue;
            }
        }
        let takes = expected.map_or("its time is not known yet".to_owned(), |e| {
            format!("about {}", units::format_duration(e))
        });
        say(&format!("{}: {takes}; {}", job.file, job.answers()));
        if jobs::run(archive, job, left, wait)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the options for publishing a post.
fn publish_of(asked: &Reproduce, read: &PostTemplate) -> Publish {
    let stem = read.path.file_stem().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    Publish {
        what: read.path.display().to_string(),
        output: asked.output.as_ref().map(|folder| folder.join(stem)),
        preview: false,
        history: false,
        redact: false,
        no_redact: false,
        force: true,
        published: asked.published.clone(),
        withhold: false,
    }
}

/// Adds the reasons to claims whose runs are missing.
fn reasons(post: &mut Post, at: usize, jobs: &[ReproductionJob]) {
    for claim in &mut post.claims {
        if !claim.not_run {
            continue;
        }
        let needs = |job: &&ReproductionJob| {
            job.uses.iter().any(|(p, alias)| *p == at && claim.runs.contains(alias))
        };
        let Some((here, why)) = jobs.iter().filter(needs).find_map(ReproductionJob::why_not) else {
            continue;
        };
        (claim.here, claim.why) = (here, why);
    }
}

fn row(job: &ReproductionJob, posts: &[PostTemplate]) -> RequestedExperiment {
    let mut names: Vec<String> = job.uses.iter().map(|(at, _)| posts[*at].name.clone()).collect();
    names.dedup();
    RequestedExperiment {
        experiment: job.file.clone(),
        posts: names,
        claims: job.claims,
        expected_s: job.expected().map(|d| d.as_secs_f64()),
        basis: job.basis.clone(),
        run: job.run().map(ToString::to_string),
        state: job.state.words(),
    }
}

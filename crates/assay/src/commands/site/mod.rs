//! `assay site`: writes an archive and posts as a static site that works on any host and from local
//! files. A part is rebuilt only if its inputs have changed.

pub mod args;
mod builder;
mod folder;
mod histories;
mod landscapes;
mod lists;
mod posts;
mod runs;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use anyhow::Result;
use assay_archive::Archive;
use assay_model::nouns::count;
use assay_publish::site::Site;
use assay_system::sha256;

use super::open::open_archive;
use crate::arguments::Global;
use crate::commands::landscape::collection;
use crate::commands::publish::absolute;
use crate::exit::{Exit, Usage, usage};
use crate::screen::{print, print_json, say};
use crate::{shipped, view};
use builder::{Builder, OmissionReason};
use folder::SiteFolder;

/// Builds or updates the site.
pub fn site(global: &Global, asked: &args::Site) -> Result<Exit> {
    let site = Site {
        title: asked.title.trim().to_owned(),
        base: asked.base_url.as_deref().map(base).transpose()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    if site.title.is_empty() {
        return usage("--title is empty; give the site a name");
    }
    let collection = collection(&asked.published)?;
    let templates = asked.posts.as_deref().map(shipped::find).transpose()?;
    let templates = templates.as_deref().map(posts::templates).transpose()?;
    let archive = open_archive(global)?;
    let folder = SiteFolder::open(&asked.output, asked.force)?;
    let settings = settings(&site, &archive, &folder, asked)?;
    let builder = Builder {
        archive: &archive,
        folder: &folder,
        site,
        no_redact: asked.no_redact,
        quiet: global.json,
        settings,
        left_out: Mutex::default(),
        notes: Mutex::default(),
        redacted: (AtomicU64::new(0), AtomicU64::new(0)),
        next: AtomicU64::new(0),
    };
    if let (Some(folder), Some([])) = (&asked.posts, templates.as_deref()) {
        let why = "has no post: no file that ends in .md";
        builder.note(format!("{} {why}", folder.display()));
    }
    runs::build(&builder)?;
    posts::build(&builder, templates.as_deref().unwrap_or_default(), &collection)?;
    landscapes::build(&builder, &collection)?;
    histories::build(&builder)?;
    lists::build(&builder)?;
    let Builder { site, left_out, notes, redacted, .. } = builder;
    let mut left_out = left_out.into_inner().unwrap_or_default();
    left_out.sort_by(|a, b| a.what.cmp(&b.what));
    let mut notes = notes.into_inner().unwrap_or_default();
    let (values, files) = (redacted.0.into_inner(), redacted.1.into_inner());
    if values + files > 0 {
        notes.push(format!(
            "in the built runs, {} replaced, {} left out; `assay publish RUN --preview` lists them",
            count(values as usize, "value"),
            count(files as usize, "file"),
        ));
    }
    if site.base.is_none() {
        notes.push(
            "without --base-url there are no feed.json and no sitemap.xml, whose addresses must be \
            absolute; atom.xml has relative ones"
                .to_owned(),
        );
    }
    let units = folder.units();
    let held = lists::cards(&units);
    let (posts, runs, landscapes) = (held.posts.len(), held.runs.len(), held.landscapes.len());
    let histories = held.histories.len();
    let withheld = held.runs.iter().filter(|run| run.withheld).count();
    let tally = folder.finish()?;
    for note in &notes {
        say(note);
    }
    for out in &left_out {
        say(&format!("left out, {}: {}", out.what, out.message));
    }
    let page = absolute(&asked.output.join("index.html"));
    if global.json {
        print_json(&serde_json::json!({
            "schema_version": assay_model::SCHEMA_VERSION,
            "page": page, "posts": posts, "runs": runs, "withheld": withheld,
            "landscapes": landscapes, "histories": histories, "pages": tally,
            "left_out": left_out, "notes": notes,
        }))?;
    } else {
        let histories = match histories {
            0 => String::new(),
            n => format!(", {}", count(n, "history")),
        };
        let withheld = match withheld {
            0 => String::new(),
            n => format!(" ({n} with withheld numbers)"),
        };
        print(&format!(
            "site: {page}\n{}, {}{withheld}, {}{histories}\n\
            pages: {} built, {} unchanged, {} removed",
            count(posts, "post"),
            count(runs, "run"),
            count(landscapes, "landscape"),
            tally.built,
            tally.unchanged,
            tally.removed
        ))?;
    }
    let any = |why| left_out.iter().any(|l| l.because == why);
    Ok(if any(OmissionReason::Damaged) || any(OmissionReason::Refused) {
        Exit::Rule
    } else if any(OmissionReason::Mistake) {
        Exit::Usage
    } else {
        Exit::Fine
    })
}

/// Checks the address of the site and returns it with a `/` at its end.
fn base(url: &str) -> Result<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:%@!$&'()*+,;=[]".contains(c);
    let good = rest.is_some_and(|r| !r.is_empty() && !r.starts_with('/') && r.chars().all(plain));
    if !good {
        return usage(format!(
            "--base-url {url}: write the address that the site is served from, such as \
            https://example.org/perf/"
        ));
    }
    Ok(format!("{}/", url.trim_end_matches('/')))
}

/// Returns a hash of everything that all pages depend on.
fn settings(
    site: &Site,
    archive: &Archive,
    folder: &SiteFolder,
    asked: &args::Site,
) -> Result<String> {
    let mut about = format!("{}\n{}\n", folder.program(), serde_json::to_string(site)?);
    if asked.no_redact {
        about += "as recorded\n";
    } else {
        // The hash is public on the site; the secret key prevents others from guessing names by
        // hashing candidates.
        let key = archive.key().map(|key| key.to_hex()).unwrap_or_default();
        let _ = writeln!(about, "{key} {:?}", view::own_names());
    }
    for more in &asked.published {
        for file in files_of(more)? {
            let bytes =
                std::fs::read(&file).map_err(|e| Usage(format!("{}: {e}", file.display())))?;
            let _ = writeln!(about, "{} {}", file.display(), sha256(&bytes));
        }
    }
    Ok(sha256(about.as_bytes()))
}

/// Returns the files of a folder by name, or the file itself.
fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| Usage(format!("{}: {e}", path.display())))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

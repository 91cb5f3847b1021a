//! The posts of a site: every template of a folder, computed as `publish` computes it. A post that
//! has a mistake or is refused is reported, and the build continues with the others.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_model::RunId;
use assay_publish::post::{self, Library, PostError, RunLocation, Template};
use assay_publish::site::{PostCard, pages, slug};
use assay_quoted::landscape::Collection;
use assay_system::sha256;

use super::super::post::{bytes, find, refused, today};
use super::builder::{Builder, OmissionReason};
use super::folder::{Unit, UnitCard};
use super::runs::{self, PublicRuns};
use crate::commands::publish::opened;
use crate::exit::{Usage, mistake, usage};
use crate::screen::complain;

/// Updates the pages of all posts.
pub fn build(builder: &Builder<'_>, files: &[PathBuf], collection: &Collection) -> Result<()> {
    let library = OnceCell::new();
    let mut slugs: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = file.display().to_string();
        if let Some(other) = slugs.insert(slug(&stem), file.clone()) {
            let why = format!("it would have the same address as {}; rename one", other.display());
            builder.leave_out(name, OmissionReason::Mistake, &why);
            continue;
        }
        let post = PostFile { file, stem: &stem };
        if let Err(e) = one(builder, &post, collection, &library) {
            if let Some(mistake) = e.downcast_ref::<PostError>() {
                complain(&mistake.render(false), &|| mistake.render(true));
                let at =
                    mistake.place.map(|(line, _)| format!("line {line}: ")).unwrap_or_default();
                builder.leave_out(
                    name,
                    OmissionReason::Mistake,
                    &format!("{at}{}", mistake.message),
                );
            } else if let Some(usage) = e.downcast_ref::<Usage>() {
                builder.leave_out(name, OmissionReason::Mistake, &usage.0);
            } else if let Some(refused) = e.downcast_ref::<RefusedPost>() {
                builder.leave_out(name, OmissionReason::Refused, &refused.0);
            } else {
                return Err(e);
            }
        }
    }
    Ok(())
}

/// Error for a post that is not published because of a check or a left-out run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct RefusedPost(String);

struct PostFile<'a> {
    file: &'a Path,
    stem: &'a str,
}

/// Returns the files of a folder that are posts, by name.
pub fn templates(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |e| Usage(format!("cannot read {}: {e}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file()
            && Path::new(&name).extension().is_some_and(|e| e == "md")
            && !name.starts_with('.')
            && name != "readme.md"
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn one(
    builder: &Builder<'_>,
    source: &PostFile<'_>,
    collection: &Collection,
    library: &OnceCell<Library>,
) -> Result<()> {
    let shown = source.file.display().to_string();
    let bytes = bytes(source.file)?;
    let template = Template::read(&shown, post::decode(&shown, &bytes)?)?;
    if let Some(why) = std::str::from_utf8(&bytes).ok().and_then(assay_system::redact::first_token)
    {
        return usage(format!("it contains a value that {}; remove it", why.reason()));
    }
    let mut ids: BTreeMap<String, RunId> = BTreeMap::new();
    let mut about = format!("{} {} {}", builder.settings, source.stem, sha256(&bytes));
    for (alias, spec) in &template.front().runs {
        let Some(id) = find(builder.archive, spec)? else { continue };
        let Some(key) = builder.folder.made(&runs::unit(&id)) else {
            let why = format!("it uses run {id}, which is left out");
            return Err(RefusedPost(why).into());
        };
        let _ = write!(about, " {alias} {id} {key}");
        ids.insert(alias.clone(), id);
    }
    let name = format!("post {}", slug(source.stem));
    let key = sha256(about.as_bytes());
    if let Some(same) = builder.folder.standing(&name).filter(|u| u.key == key) {
        builder.folder.keep(&name, same.clone());
        return Ok(());
    }
    let library = if let Some(library) = library.get() {
        library
    } else {
        let made = Library::new(collection.clone()).map_err(mistake)?;
        library.get_or_init(|| made)
    };
    let public = PublicRuns::new(builder)?;
    let view = |id: &RunId| public.view(&opened(builder.archive, id)?);
    let views = ids.iter().map(|(alias, id)| Ok((alias.clone(), view(id)?)));
    let views = views.collect::<Result<BTreeMap<_, _>>>()?;
    let mut made = template.evaluate(library, &views, env!("CARGO_PKG_VERSION"), &today())?;
    made.file = format!("{}.md", source.stem);
    made.runs_at = RunLocation::Pages("../../runs".to_owned());
    if refused(&made) {
        return Err(RefusedPost("a check rejects it".to_owned()).into());
    }
    let card = PostCard::from_post(&template, &made, source.stem);
    let texts = [
        ("index.md", "the same as Markdown", post::markdown(&made)),
        ("numbers.csv", "every computed number", post::numbers_csv(&made)),
        ("results.csv", "the quoted results", post::results_csv(&made)),
        ("post.json", "everything", post::json(&made).context("cannot write post.json")?),
    ];
    let at = |file: &str| format!("posts/{}/{file}", card.slug);
    let mut files = BTreeMap::new();
    let mut beside: Vec<pages::PageFile<'_>> = Vec::new();
    for (file, what, text) in &texts {
        files.insert(at(file), builder.folder.write(&at(file), text.as_bytes())?);
        beside.push(((*file).to_owned(), what));
    }
    let file = "template.md";
    files.insert(at(file), builder.folder.write(&at(file), &bytes)?);
    beside.push((file.to_owned(), "the template"));
    let page = pages::post(&builder.site, &card, &made, &beside);
    let file = at("index.html");
    files.insert(file.clone(), builder.folder.write(&file, page.as_bytes())?);
    let card = Some(UnitCard::Post(Box::new(card)));
    builder.folder.done(&name, Unit { key, look: String::new(), card, files })
}

//! A static site of an archive and posts: every link has a target, pages load nothing from other
//! hosts, addresses stay, only changed pages are written, and mistakes are reported without hiding
//! the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::common::{Done, World, json};
use serde_json::Value;

const POST: &str = "+++\ntitle = \"A pause is a pause\"\nsummary = \"What a sleep takes.\"\n\
    date = \"2026-02-03\"\n\
    tags = [\"sleep\", \"C++ & more\"]\n[runs.own]\nrun = \"experiment:pauses\"\n\
    experiment = \"pauses.toml\"\n+++\n\
    A pause takes {{ value(\"own:elapsed@short\") }}.\n";

const QUOTED: &str = "+++\ntitle = \"Servers of then\"\nas_of = \"2009-08-27\"\n\
    retrieved = \"2009-08-27\"\n+++\n\
    The T5240 does {{ value(\"t5240-1.6\") }}.\n";

const PAUSES: &str = "name = \"pauses\"\ntitle = \"Pauses & <more>\"\n\
    description = \"kept in /home/mallorykestrel/x\"\n\
    workload = \"command\"\n[factors]\ncommand = [\n  \
    { value = \"sleep 0.01\", label = \"short\" },\n  \
    { value = \"sleep 0.02\", label = \"long\" },\n]\n[design]\nblocks = 6\n";

/// Makes an archive with two experiments and three runs, and a folder with two posts.
fn world() -> World {
    let world = World::new();
    world.write("pauses.toml", PAUSES);
    for _ in 0..2 {
        assert!([0, 4].contains(&world.run(&["run", "pauses.toml", "--tag", "nightly"]).code));
    }
    assert!([0, 4].contains(&world.run(&["run", "noop", "--blocks", "3"]).code));
    fs::create_dir(world.path("posts")).unwrap();
    world.write("posts/pause.md", POST);
    world.write("posts/2009-08-27-servers.md", QUOTED);
    world
}

fn build(world: &World, more: &[&str]) -> Done {
    let mut arguments = vec!["site", "--posts", "posts", "-o", "out"];
    arguments.extend(more);
    world.run(&arguments)
}

/// Returns every file of a site by its path, without assay's own folder.
fn files(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut out = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != ".assay-site" {
                todo.push(path);
            } else if path.is_file() {
                out.insert(path.strip_prefix(root).unwrap().display().to_string(), path);
            }
        }
    }
    out
}

fn is_a(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == extension)
}

fn pages(root: &Path) -> BTreeMap<String, String> {
    let html = files(root).into_iter().filter(|(name, _)| is_a(name, "html"));
    html.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

/// Returns inode and modification time of each file, which show if it was written again.
fn marks(root: &Path) -> BTreeMap<String, (u64, i64, i64)> {
    let mark =
        |path: &Path| fs::metadata(path).map(|m| (m.ino(), m.mtime(), m.mtime_nsec())).unwrap();
    files(root).into_iter().map(|(name, path)| (name, mark(&path))).collect()
}

/// Returns the pages that are new or were written again.
fn touched(before: &BTreeMap<String, (u64, i64, i64)>, root: &Path) -> BTreeSet<String> {
    let changed = |(name, mark): (String, (u64, i64, i64))| {
        (before.get(&name) != Some(&mark)).then_some(name)
    };
    marks(root).into_iter().filter_map(changed).filter(|n| is_a(n, "html")).collect()
}

/// Returns the values of an attribute.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Fails with every broken link of a site and everything that it loads from other hosts.
fn links_lead_somewhere(root: &Path) {
    let all = files(root);
    let pages = pages(root);
    let mut wrong = Vec::new();
    let mut followed = 0;
    for (name, page) in &pages {
        for fetched in attributes(page, "src") {
            wrong.push(format!("{name} fetches {fetched}"));
        }
        for bad in ["@import", "url(http", "<link rel=\"stylesheet\"", "<iframe", "<base"] {
            if page.contains(bad) {
                wrong.push(format!("{name} has {bad}"));
            }
        }
        assert!(page.contains("default-src 'none'"), "{name}");
        let ids: BTreeSet<&str> = attributes(page, "id").into_iter().collect();
        for href in attributes(page, "href") {
            let href = href.replace("&amp;", "&");
            if href.starts_with("data:") || href.starts_with("https://example.org/") {
                continue;
            }
            let (file, place) =
                href.split_once('#').map_or((href.as_str(), None), |(f, p)| (f, Some(p)));
            let mut to: Vec<&str> = if file.is_empty() {
                name.split('/').collect()
            } else {
                name.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect()
            };
            for part in file.split('/').filter(|p| !p.is_empty()) {
                if part == ".." {
                    assert!(to.pop().is_some(), "{name}: {href}");
                } else {
                    to.push(part);
                }
            }
            let to = to.join("/");
            followed += 1;
            let no_place = place.is_some_and(|p| !p.is_empty() && to == *name && !ids.contains(p));
            if !all.contains_key(&to) || no_place {
                wrong.push(format!("{name} links {href}"));
            }
        }
    }
    assert!(followed > 100, "{followed}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn tally(done: &Done) -> (u64, u64, u64) {
    let line = done
        .stdout
        .lines()
        .find(|l| l.starts_with("pages: "))
        .unwrap_or_else(|| panic!("{}{}", done.stdout, done.stderr));
    let numbers: Vec<u64> =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    (numbers[0], numbers[1], numbers[2])
}

#[test]
fn a_site_is_whole_and_only_what_has_changed_is_written_again() {
    let world = world();
    let out = world.path("out");
    let first = build(&world, &[]);
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    crate::common::fits(&first.stdout);
    crate::common::fits(&first.stderr);
    assert!(first.stderr.contains("without --base-url"), "{}", first.stderr);
    let (built, unchanged, removed) = tally(&first);
    let whole = pages(&out);
    assert_eq!((built as usize, unchanged, removed), (whole.len(), 0, 0));
    links_lead_somewhere(&out);

    // The content of the pages, as a reader finds it.
    let home = &whole["index.html"];
    let (servers, pause) =
        (home.find("Servers of then").unwrap(), home.find("A pause is a pause").unwrap());
    assert!(pause < servers, "the newest first");
    assert!(
        home.contains("href=\"posts/pause/index.html\"")
            && home.contains("href=\"posts/2009-08-27-servers/index.html\"")
    );
    let post = &whole["posts/pause/index.html"];
    assert!(
        post.contains("../../runs/") && !post.contains("next to this page"),
        "it links its run"
    );
    assert!(post.contains("property=\"og:title\" content=\"A pause is a pause\""));
    assert!(
        !post.contains("og:url")
            && !out.join("sitemap.xml").exists()
            && !out.join("feed.json").exists()
    );
    let tagged: Vec<&String> = whole.keys().filter(|k| k.starts_with("tags/c-")).collect();
    assert_eq!(tagged.len(), 1, "{tagged:?}");
    for kind in [
        "runs/20",
        "systems/host-",
        "workloads/command",
        "landscapes/specjbb2005",
        "tags/nightly",
        "tags/sleep",
    ] {
        assert!(whole.keys().any(|k| k.starts_with(kind)), "{kind}: {:?}", whole.keys());
    }
    let runs = whole.keys().filter(|k| {
        k.starts_with("runs/") && k.ends_with("/index.html") && k.matches('/').count() == 2
    });
    assert_eq!(runs.count(), 3);
    // The search index has every page but the lists.
    let index = whole["search.html"]
        .split("id=\"index\">")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let index = json(&index.replace("\\u003c", "<"));
    let entries = index.as_array().unwrap();
    for entry in entries {
        assert!(whole.contains_key(entry["url"].as_str().unwrap()), "{entry}");
    }
    let kinds: BTreeSet<&str> = entries.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["landscape", "post", "run", "system", "workload"]));

    // No file of a run has the name of a person. Bundles are compressed, but come from the same
    // copy.
    let manifest = json(&fs::read_to_string(out.join(".assay-site/manifest.json")).unwrap());
    let units = manifest["units"].as_object().unwrap().iter();
    let of_runs: Vec<String> = units
        .filter(|(name, _)| name.starts_with("run "))
        .map(|(_, unit)| unit.to_string())
        .collect();
    assert_eq!(of_runs.len(), 3);
    let open = |(name, path): (String, PathBuf)| {
        let of_a_run = ["runs/", "systems/", "workloads/"].iter().any(|f| name.starts_with(f));
        (of_a_run && !is_a(&name, "zst")).then(|| fs::read_to_string(path).unwrap())
    };
    for text in files(&out).into_iter().filter_map(open).chain(of_runs) {
        assert!(!text.contains("mallorykestrel"), "{text}");
    }
    assert!(whole.iter().any(|(k, p)| k.starts_with("runs/20") && p.contains("kept in ~/x")));

    // Without changes, nothing is written.
    let before = marks(&out);
    let again = build(&world, &[]);
    assert_eq!((again.code, tally(&again)), (0, (0, built, 0)), "{}", again.stderr);
    assert_eq!(marks(&out), before);

    // Another run: only its page and the lists that show it are written.
    assert!([0, 4].contains(&world.run(&["run", "noop", "--blocks", "3"]).code));
    let more = build(&world, &[]);
    let written = touched(&before, &out);
    let (now, kept, gone) = tally(&more);
    assert_eq!((now as usize, kept + now, gone), (written.len(), built + 1, 0), "{written:?}");
    let new: Vec<&String> = written.iter().filter(|k| k.matches('/').count() == 2).collect();
    assert_eq!(new.len(), 1, "{written:?}");
    assert!(
        written.contains("workloads/noop.html") && written.contains("search.html"),
        "{written:?}"
    );
    assert!(
        !written.iter().any(|k| k.starts_with("posts/")
            || k.starts_with("landscapes/")
            || k == "workloads/command.html"),
        "{written:?}"
    );
    links_lead_somewhere(&out);

    // After the deletion of a run and a post, their pages are removed, and all other addresses
    // stay.
    let id = new[0].split('/').nth(1).unwrap().to_owned();
    fs::remove_dir_all(world.path("archive/runs").join(&id)).unwrap();
    fs::remove_file(world.path("archive/heads").join(format!("{id}.json"))).unwrap();
    fs::remove_file(world.path("posts/2009-08-27-servers.md")).unwrap();
    let less = build(&world, &[]);
    assert_eq!((less.code, tally(&less).2), (0, 2), "{}{}", less.stdout, less.stderr);
    assert!(!out.join("runs").join(&id).exists() && !out.join("posts/2009-08-27-servers").exists());
    let left: BTreeSet<String> = pages(&out).into_keys().collect();
    let first: BTreeSet<String> =
        whole.keys().filter(|k| !k.contains("servers")).cloned().collect();
    assert_eq!(left, first);
    links_lead_somewhere(&out);

    // With another title every page changes, at its old address; with a base URL the site has all
    // feeds.
    let titled = build(&world, &["--title", "Team X", "--base-url", "https://example.org/perf"]);
    assert_eq!((titled.code, tally(&titled)), (0, (left.len() as u64, 0, 0)), "{}", titled.stderr);
    let now = pages(&out);
    assert_eq!(now.keys().cloned().collect::<BTreeSet<_>>(), left);
    assert!(now["index.html"].contains("<title>Team X</title>"));
    assert!(
        now["posts/pause/index.html"].contains("content=\"https://example.org/perf/posts/pause/\"")
    );
    let map = fs::read_to_string(out.join("sitemap.xml")).unwrap();
    assert_eq!(map.matches("<loc>").count(), left.len());
    assert!(map.contains("<loc>https://example.org/perf/runs/</loc>"), "{map}");
    let feed = json(&fs::read_to_string(out.join("feed.json")).unwrap());
    assert_eq!(feed["items"][0]["url"], "https://example.org/perf/posts/pause/");
    links_lead_somewhere(&out);
}

#[test]
fn what_is_wrong_is_named_and_the_rest_is_built() {
    let world = world();
    let out = world.path("out");
    world.write(
        "posts/a-mistake.md",
        "+++\ntitle = \"Wrong\"\n+++\nIt is\n{{ beter(\"t5240-1.6\") }}.\n",
    );
    world.write("posts/pause-.md", QUOTED);
    world.write("posts/empty.md", "");
    let two = "{{ times(\"intrate-6048-base\", than=\"fprate-6048-base\") }} {{ value";
    world.write("posts/two.md", &QUOTED.replace("{{ value", two));
    let done = build(&world, &["--json"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    let printed = json(&done.stdout);
    let why = |what: &str| -> Value {
        let all = printed["left_out"].as_array().unwrap();
        all.iter().find(|l| l["what"].as_str().unwrap().contains(what)).cloned().unwrap_or_default()
    };
    assert!(
        why("a-mistake.md")["message"].as_str().unwrap().starts_with("line 5: "),
        "{printed:#}"
    );
    assert_eq!(
        (&why("a-mistake.md")["because"], &why("two.md")["because"]),
        (&"mistake".into(), &"refused".into())
    );
    assert_eq!(why("empty.md")["because"], "mistake");
    assert!(done.stderr.contains("a-mistake.md:5"), "{}", done.stderr);
    assert_eq!(printed["left_out"].as_array().unwrap().len(), 3, "{printed:#}");
    assert_eq!((&printed["posts"], &printed["runs"]), (&3.into(), &3.into()), "{printed:#}");
    links_lead_somewhere(&out);
    for bad in ["a-mistake.md", "empty.md", "two.md"] {
        fs::remove_file(world.path("posts").join(bad)).unwrap();
    }
    assert_eq!(build(&world, &[]).code, 0);

    // A run that differs from its ledger is reported, and its page is removed, with the post that
    // rests on it.
    let page = fs::read_to_string(out.join("posts/pause/index.html")).unwrap();
    let after = page.split("../../runs/20").nth(1).unwrap();
    let id = format!("20{}", after.split('/').next().unwrap());
    let records = world.path("archive/runs").join(&id).join("records.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    fs::write(&records, text.replacen("\"number\":1", "\"number\":9", 1)).unwrap();
    let done = build(&world, &[]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    let joined = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&format!("left out, run {id}: not published")), "{}", done.stderr);
    assert!(joined.contains(&format!("uses run {id}, which is left out")), "{}", done.stderr);
    assert!(!out.join("runs").join(&id).exists() && !out.join("posts/pause").exists());
    links_lead_somewhere(&out);
    fs::write(&records, text).unwrap();
    assert_eq!(build(&world, &[]).code, 0);
    assert!(out.join("posts/pause/index.html").exists());
    // A run that cannot be read at all.
    fs::write(world.path("archive/runs").join(&id).join("run.json"), "{").unwrap();
    let done = build(&world, &[]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(done.stderr.contains(&id), "{}", done.stderr);
}

#[test]
fn a_folder_that_is_not_a_site_is_refused_and_an_empty_archive_has_one() {
    let world = World::new();
    fs::create_dir(world.path("out")).unwrap();
    world.write("out/mine.txt", "mine");
    let refused = world.run(&["site", "-o", "out"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(fs::read_dir(world.path("out")).unwrap().count(), 1, "nothing was written");
    let forced = world.run(&["site", "-o", "out", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert_eq!(fs::read_to_string(world.path("out/mine.txt")).unwrap(), "mine");
    let home = fs::read_to_string(world.path("out/index.html")).unwrap();
    assert!(home.contains("There is no post yet.") && home.contains("There is no run yet."));
    assert!(!world.path("out/atom.xml").exists() && !home.contains("atom.xml"), "no post, no feed");
    // Now the folder is a site of assay.
    assert_eq!(world.run(&["site", "-o", "out"]).code, 0);
    assert_eq!(fs::read_to_string(world.path("out/mine.txt")).unwrap(), "mine");
    world.write("file", "");
    for (arguments, printed) in [
        (&["site", "-o", "file"][..], "not a folder"),
        (&["site", "-o", "new", "--posts", "nowhere"], "does not exist"),
        (&["site", "-o", "new", "--base-url", "example.org"], "https://"),
        (&["site", "-o", "new", "--base-url", "https://a/?q=<"], "https://"),
        (&["site", "-o", "new", "--title", " "], "--title is empty"),
    ] {
        let done = world.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(printed), "{arguments:?}: {}", done.stderr);
    }
    // A changed manifest cannot make assay delete files outside of the site.
    let manifest = world.path("out/.assay-site/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replacen("\"index.html\"", "\"../file\"", 1)).unwrap();
    let done = world.run(&["site", "-o", "out"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("damaged") && world.path("file").exists(), "{}", done.stderr);
}

#[test]
fn a_killed_build_is_taken_up_and_two_at_once_are_one_too_many() {
    let world = world();
    let out = world.path("out");
    // Kill the build at several moments.
    let mut whole = 0;
    for pages in [1, 20, 40] {
        let mut first = world
            .assay(&["site", "--posts", "posts", "-o", "out"])
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while first.try_wait().unwrap().is_none()
            && files(&out_or_empty(&out)).len() < whole + pages
        {
            std::thread::yield_now();
        }
        let _ = first.kill();
        let _ = first.wait();
        whole = files(&out_or_empty(&out)).len();
        for (name, page) in pages_of(&out) {
            assert!(page.ends_with("</html>"), "{name} is not whole");
        }
    }
    // A page from the killed build whose source is removed before the next build is removed too.
    fs::remove_file(world.path("posts/2009-08-27-servers.md")).unwrap();
    let done = build(&world, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!out.join("posts/2009-08-27-servers").exists());
    links_lead_somewhere(&out);
    assert_eq!(fs::read_dir(out.join(".assay-site/tmp")).unwrap().count(), 0);
    let before = marks(&out);
    assert_eq!(tally(&build(&world, &[])).0, 0);
    assert_eq!(marks(&out), before);
    // Another build holds the lock.
    let lock = fs::File::open(out.join(".assay-site/lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let second = build(&world, &[]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("another `assay site`"), "{}", second.stderr);
    drop(lock);
    // Pages that were removed or damaged are written again.
    fs::remove_file(out.join("posts/pause/index.html")).unwrap();
    fs::write(out.join("runs/index.html"), "cut").unwrap();
    assert_eq!(tally(&build(&world, &[])).0, 2);
    links_lead_somewhere(&out);
}

fn out_or_empty(out: &Path) -> PathBuf {
    fs::create_dir_all(out.join(".assay-site")).unwrap();
    out.to_owned()
}

fn pages_of(out: &Path) -> BTreeMap<String, String> {
    pages(out)
}

//! `pages`: the page size and type of the program's memory. One factor over several mechanisms: a
//! flag of the process, the machine's transparent huge pages, and pools of explicit huge pages.

use assay_model::units::{format_bytes, parse_bytes};
use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::error::Result;

use super::huge_page_coverage;
use super::hugepages::Hugepages;
use super::thp::Thp;

pub(super) struct Pages;

/// Environment variable that passes the level to programs that know assay.
const VARIABLE: &str = "ASSAY_PAGES";

static SPEC: ControlSpec = ControlSpec {
    name: "pages",
    help: "Pages that back the program's memory. `base` disables transparent huge pages for the \
           program, and so does `4KiB` where base pages have that size; `madvise` and `always` set \
           them for the machine (with `madvise`, glibc's malloc asks for them); `2MiB` and `1GiB` \
           make glibc's malloc use explicit pages; `*N` creates a pool of N. The program finds the \
           level in `ASSAY_PAGES`. The metric `huge_page_coverage` is the share of its memory on \
           such pages; a trial without any is invalid.",
    levels: "`base`, `4KiB`, `madvise`, `always`, `2MiB`, `1GiB`, `2MiB*N`, `1GiB*N`",
    keyed: false,
    key: "",
    scope: ControlScope::System,
    needs: "nothing for `base`; root for the others; as much free contiguous memory for `*N`",
    put_back: "the previous settings, journaled: transparent huge pages, the pool's count",
    probe: ("", BASE),
};

/// Levels without large pages: base pages of any size, as those of arm64 may have 16 or 64 KiB, and
/// of 4 KiB.
const BASE: &str = "base";
const SMALL: &str = "4KiB";

enum PageLevel {
    Small(&'static str),
    Transparent(&'static str),
    Explicit { bytes: u64, pool: Option<u64> },
}

fn level(setting: &Setting) -> Result<PageLevel> {
    let text = setting.value.to_text();
    let (size, count) = match text.split_once('*') {
        Some((size, count)) => (size.trim(), Some(count.trim())),
        None => (text.trim(), None),
    };
    let pool = count.map(str::parse).transpose().map_err(|_| SPEC.not_a_level(setting))?;
    match (size, parse_bytes(size), pool) {
        ("always", _, None) => Ok(PageLevel::Transparent("always")),
        ("madvise", _, None) => Ok(PageLevel::Transparent("madvise")),
        (BASE, _, None) => Ok(PageLevel::Small(BASE)),
        (_, Ok(4096), None) => Ok(PageLevel::Small(SMALL)),
        (_, Ok(bytes), pool) if bytes == 2 << 20 || bytes == 1 << 30 => {
            Ok(PageLevel::Explicit { bytes, pool })
        }
        _ => Err(SPEC.not_a_level(setting)),
    }
}

/// Makes a setting of one of the controls that this one consists of.
fn part(key: String, value: Scalar, control: &str) -> Setting {
    Setting { control: control.to_owned(), key, value }
}

fn thp(level: &str) -> Setting {
    part(String::new(), Scalar::Text(level.to_owned()), "thp")
}

fn pool(bytes: u64, count: u64) -> Setting {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    part(format_bytes(bytes), Scalar::Int(count), "hugepages")
}

impl Control for Pages {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        match level(setting)? {
            PageLevel::Small(level) => match rustix::param::page_size() as u64 {
                page if page == 4096 || level == BASE => Ok(()),
                page => Err(SPEC.not_here(format!(
                    "base pages of this machine have {}, by the build of its kernel; write `base`",
                    format_bytes(page)
                ))),
            },
            PageLevel::Transparent(word) => Thp.check(root, &thp(word)),
            PageLevel::Explicit { bytes, pool: Some(count) } => {
                Hugepages.check(root, &pool(bytes, count))
            }
            // No pool is created; there must be one already, and its size is not this control's
            // concern.
            PageLevel::Explicit { bytes, pool: None } => {
                let held = Hugepages.current(root, &format_bytes(bytes))?;
                if held.as_i64().unwrap_or(0) > 0 {
                    return Ok(());
                }
                Err(SPEC.not_here(format!(
                    "the pool of pages of {0} is empty; write `{0}*N` for N of them",
                    format_bytes(bytes)
                )))
            }
        }
    }

    fn current(&self, root: &Root, _key: &str) -> Result<Scalar> {
        let disabled = rustix::thread::transparent_huge_pages_are_disabled().unwrap_or(false);
        let machine = Thp.current(root, "")?;
        let large = !disabled && machine.to_text() != "never";
        Ok(if large { machine } else { Scalar::Text(BASE.to_owned()) })
    }

    fn parts(&self, setting: &Setting) -> Vec<Setting> {
        match level(setting) {
            Ok(PageLevel::Transparent(word)) => vec![thp(word)],
            Ok(PageLevel::Explicit { bytes, pool: Some(count) }) => vec![pool(bytes, count)],
            Ok(PageLevel::Small(_) | PageLevel::Explicit { pool: None, .. }) | Err(_) => Vec::new(),
        }
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let malloc = |n: u64| ("GLIBC_TUNABLES".to_owned(), format!("glibc.malloc.hugetlb={n}"));
        let level_text = match level(setting)? {
            PageLevel::Small(level) => {
                session.setup.no_thp = true;
                level.to_owned()
            }
            PageLevel::Transparent(word) => {
                Thp.apply(&thp(word), session)?;
                if word == "madvise" {
                    session.setup.env.push(malloc(1));
                }
                word.to_owned()
            }
            PageLevel::Explicit { bytes, pool: wanted } => {
                if let Some(count) = wanted {
                    Hugepages.apply(&pool(bytes, count), session)?;
                }
                session.setup.env.push(malloc(bytes));
                format_bytes(bytes).replace(' ', "")
            }
        };
        session.setup.env.push((VARIABLE.to_owned(), level_text.clone()));
        session.setup.pages = Some(level_text.clone());
        session.during(move |end| {
            let seen = huge_page_coverage::watch(end);
            Box::new(move |record| huge_page_coverage::conclude(&level_text, seen, record))
        });
        Ok(())
    }

    /// Does nothing: the controls that this one uses journal and restore their own levels.
    fn restore(&self, _root: &Root, _key: &str, _old: &str) -> Result<()> {
        Ok(())
    }
}

//! F07 to F09: the treatments had the same resources and settings.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use crate::check::{Evaluation, found_or_missing, grave, need, plain};
use crate::{CpuResources, Evidence, TreatmentEvidence};

/// Difference above which a comparison is invalid, for huge-page coverage and for the share of
/// CPU-quota periods in which the program was throttled.
const SHARE: f64 = 0.10;

/// Returns the smallest and the largest of the treatments' shares if they differ too much to
/// compare.
fn apart<'a>(shares: &[(f64, &'a str)]) -> Option<[(f64, &'a str); 2]> {
    let low = shares.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let high = shares.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (high.0 - low.0 > SHARE).then_some([low, high])
}

/// Returns the undeclared differences between the treatments' records. Stops at a treatment without
/// a record.
fn unequal<'a, M: Borrow<BTreeMap<String, String>>>(
    e: &Evidence,
    of: impl Fn(&'a TreatmentEvidence) -> Option<M>,
    treatments: &'a [TreatmentEvidence],
    what: &str,
) -> Result<Vec<(String, String)>, crate::check::Stop> {
    let record = |treatment: &'a TreatmentEvidence| {
        need(of(treatment), format!("{what} of {}", treatment.label))
    };
    let first = record(&treatments[0])?;
    let first = first.borrow();
    let mut found = Vec::new();
    for treatment in &treatments[1..] {
        let other = record(treatment)?;
        let other = other.borrow();
        // Treatments may share one record.
        if std::ptr::eq(first, other) {
            continue;
        }
        let mut keys: Vec<&String> = first.keys().chain(other.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let (a, b) = (first.get(key), other.get(key));
            if a != b && !e.declares(key) {
                let word = |v: Option<&String>| v.map_or("not set".to_owned(), Clone::clone);
                let text = format!("{}: {} vs {}", treatments[0].label, word(a), word(b));
                found.push((key.clone(), text.replacen(&treatments[0].label, key, 1)));
            }
        }
    }
    Ok(found)
}

pub(crate) fn cpu_resources(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let (mut lacking, mut limited) = (Vec::new(), Vec::new());
    for treatment in treatments {
        let cpus = need(treatment.cpus.as_ref(), format!("what {} could run on", treatment.label))?;
        limited.push((cpus.limited.unwrap_or(0.0), treatment.label.as_str()));
        for (what, known) in [("usable CPUs", cpus.usable), ("instances", cpus.instances)] {
            if known.is_none() {
                lacking.push(format!("the {what} of {}", treatment.label));
            }
        }
    }
    let differing =
        unequal(e, |a| a.cpus.as_ref().map(resources), treatments, "the CPU resources")?;
    // CPU counts that a declared factor changes are meant to differ.
    let meant = ["cpus", "cgroup.cpuset", "cpu", "numa"].iter().any(|f| e.declares(f));
    let mut found: Vec<_> = differing
        .into_iter()
        .filter(|(key, _)| !(meant && key != "instances" && key != "cpu quota"))
        .map(|(_, text)| plain(format!("the treatments had different resources: {text}")))
        .collect();
    if let Some([low, high]) = apart(&limited) {
        let text = format!(
            "limits of control groups stopped {} in {:.0} % of periods and {} in {:.0} %: the comparison measures the limit",
            high.1,
            high.0 * 100.0,
            low.1,
            low.0 * 100.0
        );
        found.push(grave(text).remedy("raise the limit (`cpu.max`, `memory.max`)"));
    }
    found_or_missing(found, &lacking)
}

fn resources(cpus: &CpuResources) -> BTreeMap<String, String> {
    let counts = [
        ("usable CPUs", cpus.usable),
        ("chips", cpus.chips),
        ("cores", cpus.cores),
        ("threads per core", cpus.threads_per_core),
        ("memory channels", cpus.memory_channels),
        ("instances", cpus.instances),
    ];
    let words = [("cpu quota", &cpus.quota), ("NUMA policy", &cpus.numa_policy)];
    let counts = counts.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?.to_string())));
    let words = words.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?)));
    counts.chain(words).collect()
}

pub(crate) fn page_size(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let meant = ["thp", "hugepages", "pages", "page-size"].iter().any(|f| e.declares(f));
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut shares: Vec<(f64, &str)> = Vec::new();
    for treatment in treatments {
        let of =
            |t: &TreatmentEvidence| need(t.pages.clone(), format!("the page sizes of {}", t.label));
        let (first, pages) = (of(&treatments[0])?, of(treatment)?);
        for (what, a, b) in [("mode", &first.mode, &pages.mode), ("pool", &first.pool, &pages.pool)]
        {
            match (a, b) {
                (Some(a), Some(b)) if a != b && !meant => {
                    found.push(plain(format!("the {what} of large pages differs: {a} vs {b}")));
                }
                (Some(_), Some(_)) => {}
                _ => lacking.push(format!("the {what} of large pages of {}", treatment.label)),
            }
        }
        match pages.huge_share {
            Some(share) => shares.push((share, &treatment.label)),
            None => {
                lacking.push(format!("the memory that large pages backed in {}", treatment.label));
            }
        }
    }
    if let (Some([low, high]), false) = (apart(&shares), meant) {
        found.push(grave(format!(
            "large pages backed {:.0} % of {} and {:.0} % of {}",
            low.0 * 100.0,
            low.1,
            high.0 * 100.0,
            high.1
        )));
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn os_tunables(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let differing =
        unequal(e, |a| a.os.as_deref(), treatments, "the settings of the operating system")?;
    Ok(differing
        .into_iter()
        .map(|(key, text)| {
            let message = format!("a setting of the operating system differs: {text}");
            if is_grave(&key, &text) { grave(message) } else { plain(message) }
        })
        .collect())
}

/// True for mitigations, the governor, and the kernel's series (the first two numbers of its
/// release).
fn is_grave(key: &str, text: &str) -> bool {
    if key == "kernel.release" {
        let values = text.split_once(": ").and_then(|(_, v)| v.split_once(" vs "));
        let series = |v: &str| v.split('.').take(2).collect::<Vec<_>>().join(".");
        return values.is_none_or(|(a, b)| series(a) != series(b));
    }
    key.starts_with("kernel.mitigation") || key == "cpu.governor"
}

//! The checklist of a post of October 2005, for two runs: what to ask before a gain is believed. Each
//! question is a set of facts of the two systems' descriptions, and of what the two experiments asked.

use assay_environment::{DifferenceClass, FactDiff, diff};
use assay_model::{Answer, Asked, Fact, SystemDescription};

use crate::Side;

/// A question: its text, the facts that answer it (by the beginning of their paths), and whether what
/// the experiments asked for belongs to it.
struct Question {
    text: &'static str,
    facts: &'static [&'static str],
    asked: bool,
}

const QUESTIONS: [Question; 7] = [
    Question {
        text: "For which processor was the program built?",
        facts: &["workload.built_for", "workload.build"],
        asked: false,
    },
    Question { text: "Is it the same binary?", facts: &[SHA256], asked: false },
    Question {
        text: "The same kind of hardware, number of processors, load and run-time environment?",
        facts: &["cpu", "dmi", "memory", "numa", "virt", "cgroup", "libc", "env", "swap"],
        asked: true,
    },
    Question {
        text: "The same tunables of application and system?",
        facts: &["sysctl", "limit", "mount", "block", "kernel.mitigation", "kernel.command_line"],
        asked: true,
    },
    Question {
        text: "Which version of the operating system?",
        facts: &["kernel.release", "kernel.version", "os"],
        asked: false,
    },
    Question {
        text: "Are large pages on or off on both?",
        facts: &["thp", "hugepages", "sysctl.vm.nr_hugepages"],
        asked: false,
    },
    Question {
        text: "If the binary differs: what changed in its code and its flags?",
        facts: &["toolchain", "workload.build", "workload.version", "workload.flags"],
        asked: false,
    },
];

/// Stands for the digests of whatever the workload runs.
const SHA256: &str = "workload.*.sha256";
const PAGES: usize = 5;
const CHANGES: usize = 6;
/// So many details of a question are listed.
const LISTED: usize = 6;

/// Asks the seven questions of two runs.
pub fn checklist(a: &Side<'_>, b: &Side<'_>) -> Vec<Asked> {
    let differences = diff(a.system, b.system, &[]).differences;
    let mut all: Vec<Asked> = Vec::new();
    for (i, q) in QUESTIONS.iter().enumerate() {
        let mut asked = ask(i as u32 + 1, q, a.system, b.system, &differences);
        if q.asked {
            wished(&mut asked, a, b);
        }
        if i == PAGES {
            controlled(&mut asked, a, b);
        }
        // With one binary nothing can have changed in it.
        if i == CHANGES && all[1].answer == Answer::Same {
            asked.answer = Answer::Same;
            asked.details = vec!["it is the same binary".into()];
        }
        all.push(asked);
    }
    all
}

fn belongs(path: &str, facts: &[&str]) -> bool {
    facts.iter().any(|f| {
        if *f == SHA256 {
            return path.starts_with("workload.") && path.ends_with("sha256");
        }
        path.strip_prefix(f).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn ask(
    number: u32,
    q: &Question,
    a: &SystemDescription,
    b: &SystemDescription,
    differences: &[FactDiff],
) -> Asked {
    let count = |s: &SystemDescription| {
        s.facts.iter().filter(|(p, f)| belongs(p, q.facts) && f.value().is_some()).count()
    };
    let here: Vec<&FactDiff> = differences
        .iter()
        .filter(|d| d.class != DifferenceClass::Volatile && belongs(&d.path, q.facts))
        .collect();
    let known: Vec<&&FactDiff> =
        here.iter().filter(|d| d.class != DifferenceClass::Unknown).collect();
    let recorded = count(a).min(count(b));
    let (answer, details) = if !known.is_empty() {
        (Answer::Differs, list(&known.iter().map(|d| shown(d)).collect::<Vec<_>>()))
    } else if recorded == 0 {
        (Answer::Unknown, vec!["nothing was recorded of it".to_owned()])
    } else {
        let agree = if recorded == 1 { "fact agrees" } else { "facts agree" };
        let mut details = vec![format!("{recorded} {agree}")];
        if !here.is_empty() {
            details.push(format!("{} could not be read", here.len()));
        }
        (Answer::Same, details)
    };
    Asked { number, question: q.text.to_owned(), answer, details }
}

fn shown(d: &FactDiff) -> String {
    let value = |f: &Option<Fact>| {
        f.as_ref().and_then(Fact::value).map_or_else(|| "unknown".to_owned(), str::to_owned)
    };
    format!("{}: {} | {}", d.path, value(&d.a), value(&d.b))
}

fn list(details: &[String]) -> Vec<String> {
    let mut listed: Vec<String> = details.iter().take(LISTED).cloned().collect();
    if details.len() > LISTED {
        listed.push(format!("and {} more", details.len() - LISTED));
    }
    listed
}

/// What the experiments asked for: workload, parameters, factors.
fn wished(asked: &mut Asked, a: &Side<'_>, b: &Side<'_>) {
    let text = |s: &Side<'_>| {
        let e = s.experiment;
        serde_json::json!({ "workload": e.workload, "params": e.params, "factors": e.factors })
    };
    if text(a) == text(b) {
        return;
    }
    if asked.answer != Answer::Differs {
        asked.details.clear();
    }
    asked.answer = Answer::Differs;
    asked
        .details
        .push("the experiments ask for other work: workload, parameters or factors".into());
}

/// Pages that the treatments set themselves, and what their programs really had.
fn controlled(asked: &mut Asked, a: &Side<'_>, b: &Side<'_>) {
    let set = |s: &Side<'_>| {
        let mut all: Vec<String> = s
            .plan
            .treatments
            .iter()
            .flat_map(|t| &t.controls)
            .filter(|c| ["pages", "thp", "hugepages"].contains(&c.control.as_str()))
            .map(|c| format!("{}={}", c.control, c.value.to_text()))
            .collect();
        all.sort_unstable();
        all.dedup();
        all.join(" ")
    };
    let (left, right) = (set(a), set(b));
    if left != right {
        asked.answer = Answer::Differs;
        let none = |t: String| if t.is_empty() { "none".to_owned() } else { t };
        asked.details.push(format!("controls: {} | {}", none(left), none(right)));
    }
    let backed = |s: &Side<'_>| {
        let shares: Vec<f64> =
            s.records.iter().filter_map(|r| r.metric("huge_page_coverage")).collect();
        assay_stats::summary::mean(&shares)
    };
    match (backed(a), backed(b)) {
        (Some(x), Some(y)) => {
            // Ten points, as the fairness catalogue has it (F08).
            if (x - y).abs() > 0.1 {
                asked.answer = Answer::Differs;
            }
            asked.details.push(format!(
                "memory really backed by large pages: {:.0} % | {:.0} %",
                x * 100.0,
                y * 100.0
            ));
        }
        _ => {
            asked.details.push("how much of the memory they really backed was not recorded".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(facts: &[(&str, &str)]) -> SystemDescription {
        let facts = facts.iter().map(|(p, v)| ((*p).to_owned(), Fact::known((*v).to_owned())));
        SystemDescription { facts: facts.collect(), ..SystemDescription::default() }
    }

    fn answers(a: &[(&str, &str)], b: &[(&str, &str)]) -> Vec<(Answer, Vec<String>)> {
        let (a, b) = (system(a), system(b));
        let differences = diff(&a, &b, &[]).differences;
        let all = QUESTIONS.iter().enumerate();
        all.map(|(i, q)| ask(i as u32 + 1, q, &a, &b, &differences))
            .map(|asked| (asked.answer, asked.details))
            .collect()
    }

    #[test]
    fn each_question_has_its_facts() {
        let base = [
            ("kernel.release", "6.1"),
            ("cpu.model", "x"),
            ("thp.enabled", "always"),
            ("sysctl.vm.swappiness", "60"),
            ("workload.command.sha256", "aa"),
            ("load.1", "0.1"),
        ];
        let same = answers(&base, &base);
        let words: Vec<&str> = same.iter().map(|a| a.0.name()).collect();
        // Of what the program was built for and with what, nothing is recorded.
        assert_eq!(words, ["unknown", "same", "same", "same", "same", "same", "unknown"]);
        for (path, value, question) in [
            ("workload.command.sha256", "bb", 1),
            ("cpu.model", "y", 2),
            ("sysctl.vm.swappiness", "1", 3),
            ("kernel.release", "6.2", 4),
            ("thp.enabled", "never", 5),
        ] {
            let mut other = base;
            other.iter_mut().filter(|f| f.0 == path).for_each(|f| f.1 = value);
            let found = answers(&base, &other);
            for (i, (answer, details)) in found.iter().enumerate() {
                assert_eq!(*answer == Answer::Differs, i == question, "{path}: {i} {details:?}");
            }
            assert!(found[question].1[0].starts_with(path));
        }
    }
}

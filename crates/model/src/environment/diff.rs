//! Compares two system descriptions and classifies each difference: intended (a factor), a
//! consequence of a factor, an explanation of the result, a possible explanation, unknown, or
//! noise.

use std::collections::BTreeSet;

use crate::{Fact, SystemDescription, fact_groups};

use crate::environment::class::{FactClass, class_of, rank};
use crate::environment::implied_facts::{
    ENTAILS, Entailment, HARDWARE, INSTRUCTION_SET, OTHER_BUILDS,
};

/// Effect of a difference on a comparison, most serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceClass {
    /// The fact explains results and is not a factor; the systems cannot be compared.
    Hard,
    /// The fact could not be read in one or both systems, so nobody knows whether they agree. At
    /// least as serious as soft.
    Unknown,
    /// The fact may explain a result; the difference can be accepted by name.
    Soft,
    /// The fact was declared to differ.
    Factor,
    /// The difference follows from a factor and cannot be avoided.
    Entailed,
    /// The trials did not use the object of the fact, or the difference is within the tolerance.
    Unrelated,
    /// The fact changes all the time and alone explains no result.
    Volatile,
}

crate::names! {
    /// Returns the name of the class.
    pub DifferenceClass::name: Hard = "hard", Unknown = "unknown", Soft = "soft", Factor = "factor",
        Entailed = "entailed", Unrelated = "unrelated", Volatile = "volatile"
}

/// A fact in which two systems differ or may differ.
#[derive(Debug, Clone, PartialEq)]
pub struct FactDiff {
    pub path: String,
    /// The fact in the first system; `None` if it is not described there.
    pub a: Option<Fact>,
    /// The fact in the second system.
    pub b: Option<Fact>,
    /// Effect of the difference on the comparison.
    pub class: DifferenceClass,
    /// Reason for the class in a few words.
    pub reason: String,
    /// Reason for which a person accepted the difference.
    pub accepted: Option<String>,
}

impl FactDiff {
    /// True if the difference prevents the comparison: hard, or soft or unknown and not accepted. A
    /// fact that is unknown in both systems does not count, because no difference was seen.
    pub fn stands(&self) -> bool {
        let known = |f: &Option<Fact>| f.as_ref().is_some_and(|f| f.value().is_some());
        match self.class {
            DifferenceClass::Hard => true,
            DifferenceClass::Unknown => {
                self.accepted.is_none() && (known(&self.a) || known(&self.b))
            }
            DifferenceClass::Soft => self.accepted.is_none(),
            _ => false,
        }
    }
}

/// Reason why a difference cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    /// The systems do not differ in this fact.
    #[error("`{0}` does not differ, so there is nothing to accept; see `assay compare --json`")]
    NoSuchDifference(String),
    /// The difference is hard.
    #[error(
        "`{0}` explains results and cannot be accepted; hold it equal, or declare it with --factor"
    )]
    Hard(String),
    /// The acceptance has no reason.
    #[error("`{0}` is accepted without a reason; write --accept {0}=REASON")]
    NoReason(String),
}

/// All differences between two systems.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnvDiff {
    /// The differences, sorted by path.
    pub differences: Vec<FactDiff>,
    /// Declared factors that have the same known value in both systems, or are absent from both.
    pub factors_without_effect: Vec<String>,
    /// True if the hardware is a declared factor, so that whole systems are compared.
    pub system_against_system: bool,
}

impl EnvDiff {
    /// Returns the differences of a class.
    pub fn by_class(&self, class: DifferenceClass) -> impl Iterator<Item = &FactDiff> {
        self.differences.iter().filter(move |d| d.class == class)
    }

    /// Returns the hard differences; a single one prevents the comparison.
    pub fn hard(&self) -> impl Iterator<Item = &FactDiff> {
        self.by_class(DifferenceClass::Hard)
    }

    /// Accepts the soft and unknown differences at `path` and below it, and stores the reason with
    /// them. Other differences are not changed.
    ///
    /// # Errors
    /// If there is no such difference, one of them is hard, or the reason is empty.
    pub fn accept(&mut self, path: &str, reason: &str) -> Result<(), AcceptError> {
        if reason.trim().is_empty() {
            return Err(AcceptError::NoReason(path.to_owned()));
        }
        let below = |d: &&mut FactDiff| rank(path, &d.path).is_some();
        let found: Vec<&mut FactDiff> = self.differences.iter_mut().filter(below).collect();
        if found.is_empty() {
            return Err(AcceptError::NoSuchDifference(path.to_owned()));
        }
        if let Some(hard) = found.iter().find(|d| d.class == DifferenceClass::Hard) {
            return Err(AcceptError::Hard(hard.path.clone()));
        }
        for d in found {
            if matches!(d.class, DifferenceClass::Soft | DifferenceClass::Unknown) {
                d.accepted = Some(reason.trim().to_owned());
            }
        }
        Ok(())
    }

    /// Returns the arguments of `assay compare` with which no difference between `a` and `b`
    /// prevents the comparison: a factor for hard differences, an acceptance for each group of the
    /// others. Empty if none is needed.
    pub fn remedy(
        &self,
        a: &SystemDescription,
        b: &SystemDescription,
        factors: &[String],
    ) -> String {
        let (mut factors, mut left, mut out) = (factors.to_vec(), self.clone(), Vec::new());
        loop {
            let hard: Vec<&str> = left.hard().map(|d| d.path.as_str()).collect();
            let entails = |path: &&&str| ENTAILS.iter().any(|e| e.factor == **path);
            let Some(path) = hard.iter().find(entails).or(hard.first()) else { break };
            out.push(format!(" --factor {path}"));
            factors.push((*path).to_owned());
            left = diff(a, b, &factors);
        }
        let accepted =
            |d: &&FactDiff| self.differences.iter().any(|o| o.path == d.path && !o.stands());
        let standing = left.differences.iter().filter(|d| d.stands() && !accepted(d));
        for (group, paths) in fact_groups(standing.map(|d| d.path.as_str())) {
            let path = if paths.len() == 1 { paths[0] } else { group };
            out.push(format!(" --accept {path}=REASON"));
        }
        out.concat()
    }
}

/// Returns the table of consequences of factors for documentation: `(factor, prefixes, why)`. The
/// last two rows hold the additional consequences in a comparison of hardware, and of two
/// instruction sets.
pub fn entailments() -> Vec<(&'static str, &'static [&'static str], &'static str)> {
    ENTAILS
        .iter()
        .chain([&HARDWARE, &OTHER_BUILDS])
        .map(|e| (e.factor, e.entailed, e.why))
        .collect()
}

/// Returns every path at which `a` and `b` do not have the same known value, with the effect on a
/// comparison in which `factors` (paths or prefixes of paths) are meant to differ.
///
/// Two unknown values are a difference, because nobody knows whether they agree. A fact that only
/// one system has counts with the class of its path.
///
/// Two instruction sets are never one machine that changed, so whole systems are compared, as if
/// the processor were declared: what another instruction set brings are factors, and no setting
/// prevents the comparison.
pub fn diff(a: &SystemDescription, b: &SystemDescription, declared: &[String]) -> EnvDiff {
    let paths: BTreeSet<&String> = a.facts.keys().chain(b.facts.keys()).collect();
    let mut factors = declared.to_vec();
    let arch = |s: &SystemDescription| s.get("kernel.arch").map(str::to_owned);
    let instruction_sets = arch(a).zip(arch(b)).is_some_and(|(a, b)| a != b);
    if instruction_sets {
        factors.extend(INSTRUCTION_SET.map(str::to_owned));
    }
    let mut found = EnvDiff {
        system_against_system: factors.iter().any(|f| rank("cpu.model", f).is_some() || f == "cpu"),
        ..EnvDiff::default()
    };
    let wide = [
        Some(&HARDWARE).filter(|_| found.system_against_system),
        Some(&OTHER_BUILDS).filter(|_| instruction_sets),
    ];
    let same_key = shares_key(a, b);
    // x86-64 has no other size, and earlier versions did not record it.
    let implied = Fact::known("4 KiB");
    let fact = |of: &'_ SystemDescription, path: &str| {
        let small = path == "memory.page_size" && arch(of).as_deref() == Some("x86_64");
        of.facts.get(path).cloned().or_else(|| small.then(|| implied.clone()))
    };
    for path in paths {
        let (left, right) = (fact(a, path), fact(b, path));
        let unread = [&left, &right].into_iter().flatten().any(|f| f.value().is_none());
        let lacks = |system| foreign(system) || (path.starts_with("used.") && !tells_use(system));
        let missing = (left.is_none() && lacks(a)) || (right.is_none() && lacks(b));
        let unknown = unread || missing;
        if left == right && !unknown {
            continue;
        }
        let why = unrelated(path, a, b, same_key);
        let resized = resized(path, a, b);
        let (mut class, mut reason) =
            classify(path, unknown, why, resized, &factors, wide.iter().copied().flatten());
        let named = declared.iter().any(|f| rank(f, path).is_some());
        if class == DifferenceClass::Factor && !named {
            "comes with another instruction set".clone_into(&mut reason);
        }
        if class == DifferenceClass::Hard && instruction_sets {
            class = DifferenceClass::Soft;
            "a setting of two systems that are compared as wholes".clone_into(&mut reason);
        }
        found.differences.push(FactDiff {
            path: path.clone(),
            a: left,
            b: right,
            class,
            reason,
            accepted: None,
        });
    }
    found.factors_without_effect = declared
        .iter()
        .filter(|f| !found.differences.iter().any(|d| rank(f, &d.path).is_some()))
        .cloned()
        .collect();
    found
}

/// True if another program described the system (assay always knows the kernel's release). A fact
/// that is missing from such a description is unknown, not absent.
fn foreign(system: &SystemDescription) -> bool {
    system.facts.get("kernel.release").is_some_and(|fact| fact.value().is_none())
}

/// True if the devices of the trials' program and files are known.
fn tells_use(system: &SystemDescription) -> bool {
    let is_use = |path: &str| path.starts_with("used.");
    let mut used =
        system.facts.range("used.".to_owned()..).take_while(|(p, _)| is_use(p)).peekable();
    used.peek().is_some() && used.all(|(_, fact)| fact.value().is_some())
}

/// True if a path belongs to a device or mount that the trials are known not to have used.
fn unused(path: &str, system: &SystemDescription) -> bool {
    let used = match path.split_once('.') {
        Some(("block", rest)) => format!("used.device.{}", rest.split('.').next().unwrap_or(rest)),
        Some(("mount", point)) => format!("used.mount.{point}"),
        _ => return false,
    };
    tells_use(system) && !system.facts.contains_key(&used)
}

/// Relative tolerance for amounts of memory: the kernel reserves a little more or less at each
/// boot.
const TOLERANCE: f64 = 0.01;

/// True if two amounts (`24684100 KiB`) are within the tolerance.
fn close(path: &str, a: &SystemDescription, b: &SystemDescription) -> bool {
    let amount = |s: &SystemDescription| s.get(path)?.split(' ').next()?.parse::<f64>().ok();
    let (Some(a), Some(b)) = (amount(a), amount(b)) else { return false };
    (a - b).abs() <= TOLERANCE * a.max(b)
}

fn is_memory(path: &str) -> bool {
    path == "memory.total" || rank("numa.*.memory", path).is_some()
}

/// True if the host may have changed the memory of a virtual machine meanwhile.
fn resized(path: &str, a: &SystemDescription, b: &SystemDescription) -> bool {
    is_memory(path) && [a, b].iter().all(|s| s.get("virt.hypervisor_flag") == Some("yes"))
}

/// Prefix of the hash that replaces a secret in a description; the hash depends on the archive's
/// key.
const REDACTED: &str = "redacted:";

/// True if the redacted values can be compared: one pair is equal, or there are fewer than three
/// pairs to judge by.
fn shares_key(a: &SystemDescription, b: &SystemDescription) -> bool {
    let mut pairs = a.facts.keys().filter_map(|path| Some((a.get(path)?, b.get(path)?)));
    let mut both =
        pairs.clone().filter(|(a, b)| a.starts_with(REDACTED) && b.starts_with(REDACTED));
    pairs.all(|(a, _)| !a.starts_with(REDACTED))
        || both.clone().count() < 3
        || both.any(|(a, b)| a == b)
}

/// Returns a value with its redacted parts replaced by `*`.
fn masked(value: &str) -> String {
    let mut parts = value.split(REDACTED);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        out + "*" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
    })
}

/// Returns the reason why a difference cannot have affected the result; `None` if it may have.
fn unrelated(
    path: &str,
    a: &SystemDescription,
    b: &SystemDescription,
    same_key: bool,
) -> Option<&'static str> {
    if unused(path, a) && unused(path, b) {
        return Some("of a device or file system that the trials did not use");
    }
    if is_memory(path) && close(path, a, b) {
        return Some("within 1 %");
    }
    if resized(path, a, b) && close("memory.total", a, b) {
        return Some("the nodes of a virtual machine change with its host; the total agrees");
    }
    if path == "env.size" && [a, b].iter().all(|s| s.get("aslr") == Some("2")) {
        return Some("the stack begins at a random address anyway");
    }
    let built = |s: &SystemDescription| s.facts.keys().any(|p| p.starts_with("source."));
    if path.starts_with("toolchain.") && !built(a) && !built(b) {
        return Some("nothing was built with it");
    }
    if path.starts_with("sysctl.") && a.get("user.root") != b.get("user.root") {
        let unread = |s: &SystemDescription| s.facts.contains_key(path) && s.get(path).is_none();
        if unread(a) || unread(b) {
            return Some("only root can read it");
        }
    }
    let roles = |s: &SystemDescription| -> BTreeSet<String> {
        s.get(path).into_iter().flat_map(|r| r.split(", ")).map(str::to_owned).collect()
    };
    if path.starts_with("used.") {
        let aside = ["cache", "system"];
        let mut other = roles(a).symmetric_difference(&roles(b)).cloned().collect::<Vec<_>>();
        other.retain(|role| !aside.contains(&role.as_str()));
        if other.is_empty() && tells_use(a) && tells_use(b) {
            return Some("not the device of a file of the trials");
        }
    }
    let redacted = |s: &SystemDescription| s.get(path).is_some_and(|v| v.contains(REDACTED));
    if !same_key && redacted(a) && redacted(b) && a.get(path).map(masked) == b.get(path).map(masked)
    {
        return Some("redacted with the keys of two archives, so not comparable");
    }
    None
}

fn classify(
    path: &str,
    unknown: bool,
    unrelated: Option<&str>,
    resized: bool,
    factors: &[String],
    mut wide: impl Iterator<Item = &'static Entailment>,
) -> (DifferenceClass, String) {
    let class = match class_of(path) {
        FactClass::Hard if resized => FactClass::Soft,
        class => class,
    };
    if factors.iter().any(|f| rank(f, path).is_some()) {
        return (DifferenceClass::Factor, "declared to differ".to_owned());
    }
    if class == FactClass::Volatile && !unknown {
        return (DifferenceClass::Volatile, "changes all the time".to_owned());
    }
    let follows = |e: &&Entailment| {
        factors.iter().any(|f| rank(e.factor, f).is_some() || rank(f, e.factor).is_some())
            && e.entailed.iter().any(|p| rank(p, path).is_some())
    };
    if let Some(e) = ENTAILS.iter().find(follows).or_else(|| wide.find(follows)) {
        return (DifferenceClass::Entailed, format!("follows from {}: {}", e.factor, e.why));
    }
    if let Some(why) = unrelated {
        return (DifferenceClass::Unrelated, why.to_owned());
    }
    if unknown {
        let weight = if class == FactClass::Hard { "hard" } else { "soft" };
        return (
            DifferenceClass::Unknown,
            format!("not readable in one system or both; {weight} if it differs"),
        );
    }
    match class {
        FactClass::Hard => (DifferenceClass::Hard, "explains results; not declared".to_owned()),
        _ if resized => {
            (DifferenceClass::Soft, "the host gave the virtual machine another amount".to_owned())
        }
        _ => (DifferenceClass::Soft, "might explain a result; not declared".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// True if no difference prevents the comparison.
    fn comparable(found: &EnvDiff) -> bool {
        !found.differences.iter().any(FactDiff::stands)
    }

    fn system(facts: &[(&str, Fact)]) -> SystemDescription {
        SystemDescription {
            facts: facts.iter().map(|(p, f)| ((*p).to_owned(), f.clone())).collect(),
            ..SystemDescription::default()
        }
    }

    fn classes(found: &EnvDiff) -> Vec<(&str, DifferenceClass)> {
        found.differences.iter().map(|d| (d.path.as_str(), d.class)).collect()
    }

    fn two_kernels() -> (SystemDescription, SystemDescription) {
        let a = system(&[
            ("cpu.model", Fact::known("x")),
            ("cpu.turbo", Fact::unknown("no")),
            ("kernel.release", Fact::known("6.1")),
            ("kernel.version", Fact::known("#1")),
            ("load.avg1", Fact::known("0.1")),
            ("memory.total", Fact::known("8 GiB")),
        ]);
        let b = system(&[
            ("cpu.model", Fact::known("x")),
            ("cpu.turbo", Fact::unknown("no")),
            ("kernel.release", Fact::known("6.2")),
            ("kernel.version", Fact::known("#2")),
            ("env.NEW", Fact::known("1")),
            ("load.avg1", Fact::known("0.2")),
            ("memory.total", Fact::unknown("no")),
        ]);
        (a, b)
    }

    #[test]
    fn unknown_is_never_equal_and_what_is_not_declared_is_a_confounder() {
        use DifferenceClass::{Hard, Soft, Unknown, Volatile};
        let (a, b) = two_kernels();
        let found = diff(&a, &b, &[]);
        let expected = [
            ("cpu.turbo", Unknown),
            ("env.NEW", Soft),
            ("kernel.release", Hard),
            ("kernel.version", Hard),
            ("load.avg1", Volatile),
            ("memory.total", Unknown),
        ];
        assert_eq!(classes(&found), expected);
        assert!(!comparable(&found));
        assert!(comparable(&diff(&a, &a, &[])), "two unknowns are no difference that was seen");
    }

    #[test]
    fn a_declared_factor_takes_what_follows_with_it() {
        let (a, b) = two_kernels();
        let mut found = diff(&a, &b, &["kernel.release".to_owned()]);
        assert_eq!(found.by_class(DifferenceClass::Factor).count(), 1);
        let entailed: Vec<&FactDiff> = found.by_class(DifferenceClass::Entailed).collect();
        assert_eq!(entailed[0].path, "kernel.version");
        assert!(entailed[0].reason.contains("kernel.release"));
        assert_eq!(found.hard().count(), 0);
        assert!(!comparable(&found), "env.NEW and memory.total stand");
        found.accept("env.NEW", "read by nothing").unwrap();
        found.accept("memory.total", "same board").unwrap();
        assert!(comparable(&found));
    }

    #[test]
    fn two_instruction_sets_are_compared_as_systems() {
        let known = |facts: &[(&str, &str)]| {
            let facts: Vec<_> = facts.iter().map(|(p, v)| (*p, Fact::known(*v))).collect();
            system(&facts)
        };
        let x86 = [
            ("aslr", "2"),
            ("cpu.microcode", "0x7"),
            ("cpu.model", "x"),
            ("kernel.arch", "x86_64"),
            ("kernel.release", "6.1.0-48-amd64"),
            ("libc.version", "glibc 2.36"),
            ("process.cpus_allowed", "0-1"),
            ("source.a.commit", "1"),
            ("toolchain.gcc.version", "gcc (Debian 12.2.0-14) 12.2.0"),
        ];
        let arm64 = [
            ("aslr", "2"),
            ("cpu.clusters", "4 x a + 4 x b"),
            ("cpu.model", "a + b"),
            ("hugepages.32768kB.count", "0"),
            ("kernel.arch", "aarch64"),
            ("kernel.release", "6.1.0-48-arm64"),
            ("libc.version", "glibc 2.41"),
            ("memory.page_size", "16 KiB"),
            ("process.cpus_allowed", "0-7"),
            ("source.a.commit", "1"),
            ("toolchain.gcc.version", "gcc (Debian 14.2.0-19) 14.2.0"),
        ];
        let (a, b) = (known(&x86), known(&arm64));
        let found = diff(&a, &b, &[]);
        let named: Vec<&str> = found.by_class(DifferenceClass::Factor).map(|d| &*d.path).collect();
        let wanted = [
            "cpu.model",
            "kernel.arch",
            "libc.version",
            "memory.page_size",
            "toolchain.gcc.version",
        ];
        assert_eq!(named, wanted);
        let page = found.differences.iter().find(|d| d.path == "memory.page_size").unwrap();
        assert_eq!(page.a, Some(Fact::known("4 KiB")), "x86-64 has no other");
        assert!(page.reason.contains("instruction set"), "{}", page.reason);
        assert!(comparable(&found) && found.system_against_system, "{:?}", classes(&found));
        assert_eq!(
            (found.remedy(&a, &b, &[]), &*found.factors_without_effect),
            (String::new(), &[][..])
        );
        // A setting is one warning.
        let mut other = b.clone();
        other.facts.insert("aslr".into(), Fact::known("0"));
        let found = diff(&a, &other, &[]);
        assert_eq!(
            found.by_class(DifferenceClass::Soft).map(|d| &*d.path).collect::<Vec<_>>(),
            ["aslr"]
        );
        assert_eq!(
            (found.hard().count(), &*found.remedy(&a, &other, &[])),
            (0, " --accept aslr=REASON")
        );
        // Runs of earlier versions lack the page size.
        let mut later = a.clone();
        later.facts.insert("memory.page_size".into(), Fact::known("4 KiB"));
        assert_eq!(diff(&a, &later, &[]).differences, []);
        later.facts.insert("kernel.release".into(), Fact::known("6.2"));
        assert_eq!(diff(&a, &later, &[]).hard().count(), 1, "one instruction set");
    }

    #[test]
    fn hard_differences_cannot_be_accepted() {
        let (a, b) = two_kernels();
        let mut found = diff(&a, &b, &[]);
        let error = found.accept("kernel.release", "so what").unwrap_err();
        assert_eq!(error, AcceptError::Hard("kernel.release".into()));
        assert!(matches!(found.accept("no.such", "x"), Err(AcceptError::NoSuchDifference(_))));
        assert!(matches!(found.accept("env.NEW", " "), Err(AcceptError::NoReason(_))));
    }

    #[test]
    fn other_hardware_is_another_system() {
        let a = system(&[("cpu.model", Fact::known("x")), ("memory.total", Fact::known("8 GiB"))]);
        let b = system(&[("cpu.model", Fact::known("y")), ("memory.total", Fact::known("9 GiB"))]);
        let found = diff(&a, &b, &["cpu.model".to_owned()]);
        assert!(found.system_against_system && comparable(&found));
        assert_eq!(found.by_class(DifferenceClass::Entailed).count(), 1);
    }

    #[test]
    fn a_factor_that_does_not_differ_is_named() {
        let (a, b) = two_kernels();
        let found = diff(&a, &b, &["cpu.model".to_owned(), "kernel".to_owned()]);
        assert_eq!(found.factors_without_effect, ["cpu.model"]);
    }

    #[test]
    fn only_a_device_that_the_trials_used_is_hard() {
        let with = |facts: &[(&str, &str)]| {
            system(&facts.iter().map(|(p, v)| (*p, Fact::known(*v))).collect::<Vec<_>>())
        };
        let base = [("block.vda.size", "8 GiB"), ("used.device.vda", "/")];
        let a = with(&base);
        let b = with(&[base[0], base[1], ("block.loop2.queue.rotational", "1")]);
        let found = diff(&a, &b, &[]);
        assert_eq!(classes(&found), [("block.loop2.queue.rotational", DifferenceClass::Unrelated)]);
        assert!(found.differences[0].reason.contains("did not use"));
        // One of the two systems used the device.
        let c =
            with(&[base[0], base[1], ("block.loop2.size", "1"), ("used.device.loop2", "scratch")]);
        assert_eq!(diff(&a, &c, &[]).hard().count(), 2);
        // It is unknown what an earlier version used.
        let old = with(&[base[0], ("block.loop2.size", "1")]);
        let found = diff(&a, &old, &[]);
        assert_eq!(
            classes(&found),
            [
                ("block.loop2.size", DifferenceClass::Hard),
                ("used.device.vda", DifferenceClass::Unknown)
            ]
        );
        let mut lost = a.clone();
        lost.facts.insert("used.device".into(), Fact::unknown("on overlay"));
        assert_eq!(diff(&lost, &b, &[]).hard().count(), 1);
    }

    /// Changes between two runs on one machine, and one more change that does explain results.
    #[test]
    fn one_machine_is_comparable_with_itself() {
        let base = [
            ("aslr", "2"),
            ("block.vda.size", "8 GiB"),
            ("kernel.cmdline", "quiet resume=redacted:0011aabb"),
            ("memory.total", "8000000 KiB"),
            ("mount./", "ext4 /dev/vda rw"),
            ("numa.node0.memory", "7600000 KiB"),
            ("user.root", "yes"),
            ("used.device.vda", "program, scratch"),
            ("used.mount./", "program, scratch"),
            ("virt.hypervisor_flag", "yes"),
        ];
        let with = |changes: &[(&str, &str)]| {
            let mut of: Vec<(&str, &str)> = base.to_vec();
            of.retain(|(path, _)| changes.iter().all(|(p, _)| p != path));
            of.extend(changes);
            system(&of.iter().map(|(p, v)| (*p, Fact::known(*v))).collect::<Vec<_>>())
        };
        let same: [(&str, &[(&str, &str)]); 9] = [
            ("a longer environment", &[("env.size", "1567 B")]),
            ("a balloon moved a node", &[("numa.node0.memory", "6100000 KiB")]),
            ("a reboot took a little memory", &[("memory.total", "7990000 KiB")]),
            ("a loop device came", &[("block.loop0.size", "1 GiB"), ("block.loop0.model", "x")]),
            ("a file system was mounted", &[("mount./mnt", "ext4 /dev/loop0 rw")]),
            (
                "another terminal",
                &[("env.TERM_PROGRAM", "x"), ("env.XDG_VTNR", "2"), ("env.TMUX_PANE", "1")],
            ),
            ("a compiler was installed", &[("toolchain.gcc.version", "13")]),
            ("a cache elsewhere", &[("used.device.vda", "cache, program, scratch")]),
            ("a neighbor", &[("load.avg1", "3.1"), ("psi.cpu.some.avg10", "50")]),
        ];
        for (what, changes) in same {
            for (a, b) in [(with(&[]), with(changes)), (with(changes), with(&[]))] {
                let found = diff(&a, &b, &[]);
                assert!(comparable(&found), "{what}: {:?}", classes(&found));
                assert_eq!(found.remedy(&a, &b, &[]), "", "{what}");
            }
        }
        let unlike: [(&str, &[(&str, &str)]); 5] = [
            ("a disk of the trials", &[("block.vda.size", "9 GiB")]),
            (
                "files on another disk",
                &[("used.device.vdb", "scratch"), ("used.device.vda", "program")],
            ),
            ("another kernel", &[("kernel.release", "6.2"), ("kernel.version", "#2")]),
            ("a governor", &[("cpu.governor", "powersave")]),
            ("a library path", &[("env.LD_PRELOAD", "x")]),
        ];
        for (what, changes) in unlike {
            let (a, b) = (with(&[]), with(changes));
            let found = diff(&a, &b, &[]);
            assert!(!comparable(&found), "{what}");
            // The printed arguments must resolve all differences.
            let remedy = found.remedy(&a, &b, &[]);
            let words: Vec<&str> = remedy.split_whitespace().collect();
            let of = |option: &str| -> Vec<String> {
                let pairs = words.chunks(2).filter(|pair| pair[0] == option);
                pairs.map(|pair| pair[1].to_owned()).collect()
            };
            let mut found = diff(&a, &b, &of("--factor"));
            for accepted in of("--accept") {
                found.accept(accepted.split('=').next().unwrap(), "REASON").unwrap();
            }
            assert!(comparable(&found) && words.len().is_multiple_of(2), "{what}: {remedy}");
        }
    }

    #[test]
    fn values_hidden_under_two_keys_are_not_called_different() {
        let with = |key: &str, other: &str| {
            let hidden = |n: u32| Fact::known(format!("redacted:{key}{n:04}"));
            let cmdline = Fact::known(format!("{other} resume=redacted:{key}"));
            let facts = [
                ("env.A", hidden(1)),
                ("env.B", hidden(2)),
                ("env.C", hidden(3)),
                ("kernel.cmdline", cmdline),
            ];
            system(&facts)
        };
        assert!(comparable(&diff(&with("aa", "quiet"), &with("bb", "quiet"), &[])));
        assert_eq!(diff(&with("aa", "quiet"), &with("bb", "debug"), &[]).hard().count(), 1);
        let mut one = with("aa", "quiet");
        one.facts.insert("env.A".into(), Fact::known("redacted:ff"));
        assert!(!comparable(&diff(&with("aa", "quiet"), &one, &[])), "one key, so another value");
    }

    #[test]
    fn what_another_program_did_not_describe_is_unknown() {
        let unread = Fact::unknown("the file does not state it");
        let a = system(&[("kernel.release", unread)]);
        let b = system(&[("kernel.release", Fact::known("6.1")), ("aslr", Fact::known("2"))]);
        for found in [diff(&a, &b, &[]), diff(&b, &a, &[])] {
            assert!(found.differences.iter().all(|d| d.class == DifferenceClass::Unknown));
        }
        let c = system(&[("kernel.release", Fact::known("6.1"))]);
        assert_eq!(diff(&b, &c, &[]).differences[0].class, DifferenceClass::Hard);
    }
}

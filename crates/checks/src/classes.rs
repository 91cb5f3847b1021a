//! The classes of facts and what follows from which factor, as a page of documentation.

use std::fmt::Write as _;

use assay_environment::{FactClass, classes, entailments};

/// The page on comparing systems in Markdown.
pub fn environment_markdown() -> String {
    let mut out = String::from(HEAD);
    for class in [FactClass::Hard, FactClass::Soft, FactClass::Volatile] {
        let paths: Vec<String> =
            classes().iter().filter(|(_, c)| *c == class).map(|(p, _)| format!("`{p}`")).collect();
        let _ = writeln!(out, "| {} | {} |", class.name(), paths.join(", "));
    }
    out.push_str(ENTAILED);
    for (factor, prefixes, why) in entailments() {
        let paths: Vec<String> = prefixes.iter().map(|p| format!("`{p}`")).collect();
        let _ = writeln!(out, "| `{factor}` | {} | {why} |", paths.join(", "));
    }
    out
}

const HEAD: &str = "# Compare systems

<!-- Made by `assay rules classes --markdown`; a test compares. -->

`assay compare RUN RUN...` lays runs side by side and says what else differed between their systems, by class:

| class | what it is | what it does |
|---|---|---|
| hard | explains results, not declared | there is no comparison: the verdict is `invalid`, the ratio is withheld, the exit code is 4 |
| unknown | could not be read in one system or both | nobody knows that they agree; at least soft |
| soft | might explain a result, not declared | a warning, until accepted by name |
| factor | declared with `--factor PATH` | is what is compared |
| entailed | follows from a factor by the table below | is printed, since it comes with the factor |
| volatile | changes all the time | is left out |

    assay compare --factor kernel.release A B              # two kernels
    assay compare --factor cpu.model A B                   # two machines: system against system
    assay compare --accept 'env.LANG=nothing prints' A B   # a soft difference, with its reason
    assay compare A B -o beside.html                       # also a page of one file, with charts over time

A factor covers its path and all below it. `--factor` also takes a parameter of the workload or a control that is meant to
differ. Two programs of different names, or two workloads, are compared only with `--factor command`: without it the verdict
is *invalid* (F02). Wherever a check calls a comparison invalid there is no verdict, in the terminal, in JSON and on a page,
and the exit code is 4. A hard difference cannot be accepted: hold it equal, or declare it. With a processor as the factor whole
systems are compared and the report states this: what another machine brings along is entailed, never the processor's merit.

A run records which devices and mounts its trials used (`used.device.*`, `used.mount.*`: where the system, the scratch
and cache folders, the program, the storage level and every path in a parameter are). What differs in a block device that
neither run used is soft. Where the devices below a file system cannot be determined (overlay), `used.device` is unknown and
every device counts.

The Compare page of `assay serve` accepts a soft difference by a form that asks for the reason.

## Classes

By path, whole parts, where `*` stands for any one part. The longest prefix decides; a path that is not
in the table is soft.

| class | paths |
|---|---|
";

const ENTAILED: &str = "
## What follows from which factor

The last row holds only where `cpu.model` (or `cpu`) is declared.

| factor | follows | because |
|---|---|---|
";

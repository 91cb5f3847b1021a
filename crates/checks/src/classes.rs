//! Renders the classes of facts and the consequences of each factor as a page of documentation.

use std::fmt::Write as _;

use assay_model::environment::{FactClass, classes, entailments};

/// Renders the page on comparing systems in Markdown.
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

`assay compare RUN RUN...` lays runs side by side and says what else differed between their systems,
by class:

| class | what it is | what it does |
|---|---|---|
| hard | explains results, not declared | the verdict is `invalid`, without a ratio; exit code 4 |
| unknown | could not be read in one system or both | nobody knows that they agree; at least soft |
| soft | might explain a result, not declared | one warning, until accepted by name |
| factor | declared with `--factor PATH` | is what is compared |
| entailed | follows from a factor by the table below | one line, since it comes with the factor |
| unrelated | a device, file system or tool that no trial used; memory within 1 % | one line |
| volatile | changes all the time, or with the terminal | is left out |

    assay compare --factor kernel.release A B           # two kernels
    assay compare --factor cpu.model A B                # two machines: system against system
    assay compare X86 ARM64                             # two instruction sets: so, too
    assay compare --accept 'env=nothing reads it' A B   # soft differences below a path, with why
    assay compare A1,A2,A3 B1,B2,B3                     # three runs a side: a verdict over runs
    assay compare --reference level=1 A B               # relative to an unchanged treatment of both
    assay compare A B -o beside.html                    # also a page, with charts over time

**Drift.** Two runs of one command differ by more than their trials do, because the machine drifts
between them; of 110 pairs of identical runs a comparison of their trials called 38 better or worse.
So the ratio of two runs has no interval, and its verdict is `not established`; the reason has the
command that measures both in one experiment. A verdict across runs comes from three runs or more of
each side, whose means are compared (make them in turns), or from `--reference`: a treatment of all
the runs that cannot have changed, by which the others are divided block by block.

A factor covers its path and all below it; it may also be a parameter of the workload or a control
that is meant to differ. Two programs of different names, or two workloads, are compared only with
`--factor command`: without it the verdict is *invalid* (F02). Where a check calls a comparison or
one of its runs invalid, no output has a verdict, and the exit code is 4. A hard difference cannot
be accepted: hold it equal, or declare it; the printed remedy has the command. With a processor as
the factor, or between instruction sets, whole systems are compared, and the report states this:
what another machine brings along is entailed, never the processor's merit. Between instruction sets
these, page size, C library and toolchain are the factors, and no difference prevents the
comparison.

A run records which devices and mounts its trials used (`used.device.*`, `used.mount.*`: where the
system, the scratch and cache folders, the program, the storage level and every path in a parameter
are). What differs in a block device or mount that neither run used is unrelated. Where the devices
below a file system cannot be determined (overlay), `used.device` is unknown and every device
counts. The memory of a virtual machine, which its host may change, is soft.

The Compare page of `assay serve` accepts a soft difference by a form that asks for the reason.

## Classes

By path, whole parts, where `*` stands for any one part or the rest of one. The longest prefix
decides; a path that is not in the table is soft.

| class | paths |
|---|---|
";

const ENTAILED: &str = "
## What follows from which factor

The last two rows hold only where `cpu.model` (or `cpu`) is declared, and between instruction sets.

| factor | follows | because |
|---|---|---|
";

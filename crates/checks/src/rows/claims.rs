//! Rows F46 to F60: claims and publication.

use assay_model::{CheckRow, CheckSection};

use super::{I, NI, NW, W};

pub const SAME_METRIC: CheckRow = CheckRow {
    id: "F46",
    name: "same-metric",
    section: CheckSection::Claims,
    severity: I,
    escalation: "a note where a base result stands for a peak one",
    needs: "metric, unit, benchmark and version, and category (scenario, division, base or peak) on both sides",
    fires: "one of them differs, or the versions are not declared comparable",
    why: "numbers of two metrics have no ratio",
    remedy: "compare results of one metric in one version, or name the difference and state no ratio",
    source: "MLPerf messaging guidelines; SPEC OSG fair use",
    evidence: "both sides in a post; runs in `assay compare`",
};

pub const KINDS_NOT_MIXED: CheckRow = CheckRow {
    id: "F47",
    name: "kinds-not-mixed",
    section: CheckSection::Claims,
    severity: I,
    escalation: "a warning where measured and quoted numbers are labelled and compared",
    needs: "the kind of each number: measured, derived, estimated, quoted",
    fires: "a measured number is shown with one of another kind that is not labelled",
    why: "an estimate shown with a measurement borrows its credibility",
    remedy: "label every number that was not measured, at the number",
    source: "SPEC OSG fair use; Heiser C1",
    evidence: "kinds of the numbers of a post, of the lines of a landscape",
};

pub const DERIVED_MARKED: CheckRow = CheckRow {
    id: "F48",
    name: "derived-marked",
    section: CheckSection::Claims,
    severity: I,
    escalation: "",
    needs: "how each derived number is presented",
    fires: "a per-something, normalised or composite value is unmarked, shown as official, or far from its base",
    why: "a derived value can be made to favour either side",
    remedy: "mark it, and show the base metric in the same table or paragraph",
    source: "MLPerf messaging guidelines; SPEC fair use on derived values",
    evidence: "`per` in a post, columns of a landscape",
};

pub const DENOMINATOR_DEFINED: CheckRow = CheckRow {
    id: "F49",
    name: "denominator-defined",
    section: CheckSection::Claims,
    severity: I,
    escalation: "",
    needs: "each system's count of the denominator, and whether it is fitted, enabled or used",
    fires: "the denominator is ambiguous, or a different thing for different systems",
    why: "per core means three things",
    remedy: "state which cores: fitted, enabled or used, the same for all systems",
    source: "SPEC HPG fair use",
    evidence: "counts in published results (`counted` says of what) and of the measured system",
};

pub const RANKING_FLIPS: CheckRow = CheckRow {
    id: "F50",
    name: "ranking-flips",
    section: CheckSection::Claims,
    severity: W,
    escalation: "invalid when it is published without the table over all denominators",
    needs: "every count that is recorded of each system",
    fires: "the order under the claimed denominator reverses under another recorded one",
    why: "who may choose the denominator may choose the winner",
    remedy: "show the table over all recorded denominators, totals first",
    source: "SWaP page of 2005; realworldtech",
    evidence: "every count of the results of a landscape or post",
};

pub const POWER_MEASURED: CheckRow = CheckRow {
    id: "F51",
    name: "power-measured",
    section: CheckSection::Claims,
    severity: I,
    escalation: "a warning for watts that are quoted without a meter",
    needs: "where watts come from, the meter and its uncertainty, the run and window",
    fires: "per watt of a label or TDP, of another run or window, of mixed sources, or of a meter above 1 %",
    why: "a nameplate is not a measurement, and two meters of two things have no ratio",
    remedy: "measure at the wall in the same run, and name the meter and its uncertainty (`observe.meter`)",
    source: "MLPerf power rules; SPECpower methodology",
    evidence: "published results (`watts_source`), meters of a run (`observe.meter`)",
};

pub const PRICE_BASIS: CheckRow = CheckRow {
    id: "F52",
    name: "price-basis",
    section: CheckSection::Claims,
    severity: I,
    escalation: "",
    needs: "line items, currency, date, discount, support term, public terms",
    fires: "a price lacks date, scope or public terms, or the scopes differ",
    why: "price without scope is a number somebody chose",
    remedy: "price the same things on the same day at public terms",
    source: "TPC pricing guidelines",
    evidence: "published results (`price`, `currency` and the columns `price_...`)",
};

pub const ABSOLUTES_SHOWN: CheckRow = CheckRow {
    id: "F54",
    name: "absolutes-shown",
    section: CheckSection::Claims,
    severity: I,
    escalation: "",
    needs: "the claim, and what is printed with it",
    fires: "a ratio or percentage stands alone, or a speed-up without its base case",
    why: "twice as fast as something slow is slow",
    remedy: "show both values with their units; for a speed-up state of what",
    source: "Heiser F4; Hoefler and Belli rule 1",
    evidence: "claims that `assay audit` cannot recompute",
};

pub const WORDING_EXACT: CheckRow = CheckRow {
    id: "F56",
    name: "wording-exact",
    section: CheckSection::Claims,
    severity: I,
    escalation: "",
    needs: "the population and the day of a rank",
    fires: "a rank without its population, or without the day that it is true of",
    why: "a record stands until the next result is published",
    remedy: "state among which results, and as of which date",
    source: "SPEC fair use 2023; SPEC OSG",
    evidence: "ranks of a post",
};

pub const SOURCE_AND_DATE: CheckRow = CheckRow {
    id: "F57",
    name: "source-and-date",
    section: CheckSection::Claims,
    severity: I,
    escalation: "a warning for a result without a day or of a later day than the page; a note when a newer one is known",
    needs: "the document of each quoted result, its day, the day of the page",
    fires: "a quoted result names no document, has no day, or is of a later day than the page",
    why: "what cannot be looked up cannot be checked, and pages change",
    remedy: "name the document and the day",
    source: "SPEC fair use 2023; MLPerf messaging guidelines",
    evidence: "published results and their `sources.csv`; front matter of a post",
};

pub const REQUIRED_DISCLOSURE: CheckRow = CheckRow {
    id: "F58",
    name: "required-disclosure",
    section: CheckSection::Claims,
    severity: NI,
    escalation: "a warning where results are quoted from documents that quote them",
    needs: "the benchmark's rule pack, and what is printed with the number",
    fires: "a field that the benchmark's rules want is missing",
    why: "the body that owns the metric may forbid the use without it",
    remedy: "print the fields with the number",
    source: "SPEC HPG, SPEC 2023 and MLPerf fair-use rules",
    evidence: "the rule pack `fair-use` over a post; imported results",
};

pub const SELECTIVE_REPORT: CheckRow = CheckRow {
    id: "F59",
    name: "selective-report",
    section: CheckSection::Claims,
    severity: NW,
    escalation: "invalid when what is left out reverses the headline",
    needs: "registered metrics, workloads and treatments, and those that are shown",
    fires: "a registered item or a measured loss is not shown",
    why: "the part that hurts is the part left out",
    remedy: "show everything that was registered, losses too",
    source: "van der Kouwe et al. 2018; Heiser A1",
    evidence: "the plan and the metrics of the run; a post: the treatments of its runs that it shows",
};

pub const REPEATABLE: CheckRow = CheckRow {
    id: "F60",
    name: "repeatable",
    section: CheckSection::Claims,
    severity: NW,
    escalation: "invalid when a rerun's interval excludes the published value",
    needs: "raw data, experiment or script, versions, whether anything was changed, a rerun",
    fires: "something that a rerun needs is missing, or what ran had unnamed changes",
    why: "a number that cannot be reproduced is an anecdote",
    remedy: "publish with the whole run (`assay publish`) and name versions",
    source: "MLPerf power and submission rules; SPEC on reproducibility",
    evidence: "the ledger and the programs of the run, and the version-controlled trees that they lie in",
};

//! Rows F28 to F45 and F61: design and statistics.

use assay_model::{CheckRow, CheckSection};

use super::{I, NI, NW, W};

pub const ENOUGH_RUNS: CheckRow = CheckRow {
    id: "F28",
    name: "enough-runs",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "invalid below 3 trials where treatments are compared, and when an interval was made from fewer trials than its method needs",
    needs: "independent trials per treatment, the method of the interval",
    fires: "a treatment has fewer than 6 trials that count",
    why: "two trials carry no interval, and five none that assumes nothing about shape",
    remedy: "run at least 6 blocks",
    source: "golang/perf benchmath; mcp-gateway#615",
    evidence: "the trials that count, in the run",
};

pub const UNIT_OF_REPLICATION: CheckRow = CheckRow {
    id: "F29",
    name: "unit-of-replication",
    section: CheckSection::Statistics,
    severity: I,
    escalation: "",
    needs: "what the interval was computed over, and the samples inside trials",
    fires: "it was computed over samples while trials differ by more than samples explain, from one trial, or over repetitions that share a process",
    why: "a thousand samples of one trial are one trial: the interval is too narrow by far",
    remedy: "compute the interval over trial means, and run more trials",
    source: "Kalibera and Jones 2013, 2020; simulated",
    evidence: "the run: intervals are made of trials; the importer of Google Benchmark says which repetitions share a process",
};

pub const INTERLEAVED: CheckRow = CheckRow {
    id: "F31",
    name: "interleaved",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "invalid when the treatments ran apart and the trials show a trend (p < 0.01)",
    needs: "start times and order of the trials",
    fires: "the treatments ran in time spans apart, in the same order in every block, or in an \
            unknown order",
    why: "drift of the machine then counts as a difference",
    remedy: "run both as treatments of one experiment (`assay run --vs`, or a factor) with design.order = \"random\"",
    source: "google/benchmark#1051; simulated: 36 % false alarms at 3 % drift",
    evidence: "start times of the trials and the order of the design",
};

pub const INTERVAL_PRESENT: CheckRow = CheckRow {
    id: "F32",
    name: "interval-present",
    section: CheckSection::Statistics,
    severity: NI,
    escalation: "a note for quoted results, whose sources print none",
    needs: "the numbers that are shown, their intervals, and whether they are deterministic",
    fires: "a measured number has no interval and is not marked as deterministic",
    why: "a number without its uncertainty cannot be compared with anything",
    remedy: "run at least 3 trials, or mark the number as deterministic",
    source: "Kalibera and Jones 2020; Heiser B4; Hoefler and Belli rule 5",
    evidence: "summaries of a run; the values that a post prints",
};

pub const DIRECTION_SUPPORTED: CheckRow = CheckRow {
    id: "F34",
    name: "direction-supported",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "",
    needs: "the interval of the ratio that a post prints",
    fires: "the interval includes 1, or the comparison is inconclusive",
    why: "the data do not establish the direction",
    remedy: "run more trials, or state that the direction is not established",
    source: "Kalibera and Jones 2020",
    evidence: "a post: the comparison that it prints",
};

pub const DETECTABLE_EFFECT: CheckRow = CheckRow {
    id: "F36",
    name: "detectable-effect",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "",
    needs: "the smallest effect that the design finds, the margin, the claimed effect",
    fires: "an open comparison cannot see the margin, or a claim is smaller than the design can see",
    why: "a design that cannot detect an effect shows nothing about it",
    remedy: "run more blocks",
    source: "power analysis, 80 % at 5 %",
    evidence: "the comparisons and the margin of the run",
};

pub const SELF_COMPARISON: CheckRow = CheckRow {
    id: "F37",
    name: "self-comparison",
    section: CheckSection::Statistics,
    severity: NW,
    escalation: "invalid when the effect is no larger than what identical code differs by",
    needs: "a recent comparison of identical code on this host, by this schedule, of this workload",
    fires: "there is none of the policy's age",
    why: "identical code can differ by more than the effect, and no interval shows that",
    remedy: "measure the A/A floor of one of the commands: `assay run --aa -- COMMAND`",
    source: "larql#370; rue#2028; nvbench#478",
    evidence: "comparisons of a thing with itself that this machine keeps",
};

pub const MANY_COMPARISONS: CheckRow = CheckRow {
    id: "F38",
    name: "many-comparisons",
    section: CheckSection::Statistics,
    severity: NW,
    escalation: "invalid when the headline is the best of them",
    needs: "how many comparisons were made, and the correction",
    fires: "more than one, uncorrected",
    why: "of twenty comparisons of nothing one looks like something",
    remedy: "use Holm's correction for a gate, or confirm the one that matters by a fresh run",
    source: "Holm 1979; Benjamini and Hochberg 1995",
    evidence: "the comparisons of the run, `compare.gate`",
};

pub const STOPPING_RULE: CheckRow = CheckRow {
    id: "F39",
    name: "stopping-rule",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "invalid when sampling ended at the first significant look",
    needs: "the rule, whether it was registered before the first trial, the looks at the data",
    fires: "the number of trials was chosen after seeing data, under no registered rule",
    why: "who looks after every pair finds a difference in 28 of 100 comparisons of nothing",
    remedy: "fix the number of blocks before, or use looks with limits (`--until-clear`)",
    source: "Laaber et al. 2020; nvbench#374; simulated",
    evidence: "the ledger: stop rule, looks, how the run ended",
};

pub const EXCLUSIONS_LOGGED: CheckRow = CheckRow {
    id: "F40",
    name: "exclusions-logged",
    section: CheckSection::Statistics,
    severity: I,
    escalation: "a warning for trials that failed and say why",
    needs: "every trial that was started, and the reason for each that is not in the result",
    fires: "a trial is left out without a rule fixed before or a logged cause",
    why: "who may drop trials may choose the result",
    remedy: "see the trials' errors; a failure that depends on the treatment biases the rest",
    source: "Georges et al. 2007; Heiser",
    evidence: "the ledger and the trials of the run",
};

pub const SAME_STATISTIC: CheckRow = CheckRow {
    id: "F41",
    name: "same-statistic",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "invalid when treatments are summed up by different statistics or numbers of trials",
    needs: "the statistic of each treatment, and its number of trials",
    fires: "a claim rests on a minimum or a best of several",
    why: "the best of ten is not comparable with the mean of three, and falls with n by itself",
    remedy: "use the same statistic and the same number of trials for all treatments",
    source: "Georges et al. 2007; Chen and Revels 2016",
    evidence: "the run: one statistic for all, trials that count",
};

pub const SHAPE_FITS_SUMMARY: CheckRow = CheckRow {
    id: "F42",
    name: "shape-fits-summary",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "",
    needs: "the trials' values (20 for a test of modes), intervals by two methods, mean and median",
    fires: "there is more than one mode, or two summaries of one comparison disagree",
    why: "one number hides two behaviours",
    remedy: "look at the plot of the trials: there may be two modes or a few far-out trials",
    source: "Maricq et al. 2018; Hoefler and Belli rules 6, 8",
    evidence: "the trials' values and both intervals of the run",
};

pub const RIGHT_MEAN: CheckRow = CheckRow {
    id: "F43",
    name: "right-mean",
    section: CheckSection::Statistics,
    severity: I,
    escalation: "",
    needs: "what each mean is taken of, and how",
    fires: "an arithmetic mean of normalised scores or of rates over equal work; a mean of ratios for a ratio of totals",
    why: "the arithmetic mean of ratios makes the reference decide the winner",
    remedy: "geometric mean for scores, harmonic for rates over equal work, sums for totals",
    source: "Fleming and Wallace 1986; Heiser B5; Hoefler and Belli rules 3, 4",
    evidence: "the mean of a suite; `mean` in a post",
};

pub const MEAN_SENSITIVITY: CheckRow = CheckRow {
    id: "F44",
    name: "mean-sensitivity",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "",
    needs: "the members' values in both treatments",
    fires: "geometric mean and total order the systems differently, or a mean stands without its members",
    why: "then the choice of the mean is the result",
    remedy: "show members, both summaries, the best and the worst",
    source: "Eeckhout 2024",
    evidence: "the scores of a suite",
};

pub const RECOMPUTES: CheckRow = CheckRow {
    id: "F45",
    name: "recomputes",
    section: CheckSection::Statistics,
    severity: I,
    escalation: "a note for more digits than the interval supports",
    needs: "the printed text and the unrounded inputs",
    fires: "a printed number differs from the recomputed one by more than half its last digit",
    why: "a slip in the one number that people read undoes the rest",
    remedy: "let assay compute the number",
    source: "SWaP page of 2005; Hoefler and Belli rule 12",
    evidence: "digits of a post; claims that `assay audit` recomputes",
};

pub const COLD_START: CheckRow = CheckRow {
    id: "F61",
    name: "cold-start",
    section: CheckSection::Statistics,
    severity: W,
    escalation: "",
    needs: "six trials of a treatment with their values, in the order in which they ran",
    fires: "the first trial of a treatment lies far outside all its others (eight times their spread, and 2 %); a warm-up that wrote files is twice as long as the others; or the trials of one treatment alone change over the run (p < 0.001, and 5 %)",
    why: "caches, lazy set-up or the clock of the CPU were cold, or later trials find what earlier ones left: they measured something else",
    remedy: "`--warmup 1` leaves it out; `--prepare 'rm -f FILE'` lets every trial begin alike",
    source: "Georges, Buytaert and Eeckhout 2007; Kalibera and Jones 2013",
    evidence: "start times and values of the trials; files that the first wrote into its working folder",
};

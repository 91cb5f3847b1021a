//! Rows F01 to F15 and F62: equal machines, programs, resources and settings.

use assay_model::{CheckRow, CheckSection};

use super::{I, W, WI};

pub const ENV_CAPTURED: CheckRow = CheckRow {
    id: "F01",
    name: "env-captured",
    section: CheckSection::Environment,
    severity: WI,
    escalation: "a note at the bench when only the look after the trials is missing; a warning for an imported run",
    needs: "descriptions of the system before and after the trials",
    fires: "a description is missing, or a required fact in it is unknown",
    why: "what was not written down cannot be compared; an unknown is never equal to anything",
    remedy: "let assay describe the system (as root where it asks for that), or add the facts by hand",
    source: "MLPerf submission rules; Heiser F1, F2; Hoefler and Belli rule 9",
    evidence: "assay describes the system before the first trial (`system.json`) and looks again after trials",
};

pub const FACTOR_DECLARED: CheckRow = CheckRow {
    id: "F02",
    name: "factor-declared",
    section: CheckSection::Environment,
    severity: I,
    escalation: "",
    needs: "the declared factors, the treatments' levels, the environment diff",
    fires: "no factor is declared, or a declared factor is the same in all treatments",
    why: "without a factor there is no question that the comparison answers",
    remedy: "declare what is meant to differ as a factor, with a level for each treatment",
    source: "own rule",
    evidence: "the experiment declares factors; `compare --factor`",
};

pub const CONFOUNDER: CheckRow = CheckRow {
    id: "F03",
    name: "confounder",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid when the difference is of class hard",
    needs: "the environment diff with classes",
    fires: "something differs that is neither a factor nor entailed by one, and was not accepted",
    why: "it may be what explains the result",
    remedy: "hold it equal, declare it as a factor, or accept a soft one by name with a reason",
    source: "larql#370; Mytkowicz et al. 2009",
    evidence: "`compare` lays the descriptions of the runs side by side",
};

pub const BINARY_IDENTITY: CheckRow = CheckRow {
    id: "F04",
    name: "binary-identity",
    section: CheckSection::Environment,
    severity: I,
    escalation: "",
    needs: "hashes of the executable, its libraries or its image, per treatment",
    fires: "hashes differ and no factor is about the program; or they are equal though one is",
    why: "two programs in a test of one setting measure the programs",
    remedy: "run the same file in both treatments, or declare the program as a factor",
    source: "own checklist of 2005",
    evidence: "the first trial of each treatment records its program and libraries by hash",
};

pub const BUILT_FOR_HOST: CheckRow = CheckRow {
    id: "F05",
    name: "built-for-host",
    section: CheckSection::Environment,
    severity: W,
    escalation: "",
    needs: "the CPU features the program was built for, and those of its host, per treatment",
    fires: "one treatment runs code built for its host and another does not",
    why: "the treatment that may use its processor's instructions is tuned, the other is not",
    remedy: "build for the host in all treatments, or for the same baseline in all",
    source: "own checklist of 2005; Heiser D3",
    evidence: "the program's ELF notes and the processor's flags",
};

pub const FLAGS_DISCLOSED_EQUAL: CheckRow = CheckRow {
    id: "F06",
    name: "flags-disclosed-equal",
    section: CheckSection::Environment,
    severity: I,
    escalation: "",
    needs: "compiler and version, flags, LTO, PGO, base or peak, per treatment",
    fires: "they differ undeclared, or one treatment is base and another peak; missing ones when publishing",
    why: "effort that is not equal, or not stated, shows up as speed",
    remedy: "build all treatments alike and state compiler, version and flags",
    source: "SPEC CPU 2017 run rules",
    evidence: "the toolchain parameters of kits and suites, else the tools and commands of a kit's build; equal programs need none",
};

pub const CPU_RESOURCES: CheckRow = CheckRow {
    id: "F07",
    name: "cpu-resources",
    section: CheckSection::Environment,
    severity: I,
    escalation: "",
    needs: "usable CPUs, chips, cores, threads per core, quota, NUMA policy, memory channels, instances",
    fires: "one of them differs between treatments and is not declared, or limits of control groups stop one treatment in \
            10 points more of its periods than another",
    why: "more processors or memory channels are more machine",
    remedy: "give the treatments the same CPUs (controls cpus and numa), or declare the count as a factor",
    source: "SPEC HPG fair use; own checklist of 2005",
    evidence: "the description of the system, the controls of each treatment, and what limits of control groups did to each trial",
};

pub const PAGE_SIZE: CheckRow = CheckRow {
    id: "F08",
    name: "page-size",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid when the share of memory really backed differs by more than 10 points",
    needs: "the THP mode, the huge-page pools, and the share of memory they backed",
    fires: "modes or pools differ undeclared",
    why: "large pages alone move memory-bound results by tens of per cent",
    remedy: "set the same mode in all treatments (controls thp and hugepages)",
    source: "own checklist of 2005; MachineState",
    evidence: "the control `pages` and the kernel's report on the program's memory",
};

pub const OS_TUNABLES: CheckRow = CheckRow {
    id: "F09",
    name: "os-tunables",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid for mitigations, governor and kernel series",
    needs: "the settings of the operating system that controls made, by treatment",
    fires: "a setting differs between treatments and is not declared",
    why: "a result can be the setting's",
    remedy: "set them alike, or declare the one that is tested",
    source: "MachineState; Heiser",
    evidence: "the controls of the treatments of a run; `compare`: the fixed controls of both runs (F03 judges the descriptions)",
};

pub const QUIET_HOST: CheckRow = CheckRow {
    id: "F11",
    name: "quiet-host",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid when only some of the treatments had company",
    needs: "run queue of others, steal and pressure before the trials",
    fires: "more than 0.05 tasks of others per CPU, 0.5 % steal or 1 % pressure",
    why: "what others do is in the result",
    remedy: "end the other work or wait for it; on a shared machine keep it off the CPUs used \
             (controls cpus and sched) and compare interleaved",
    source: "MachineState; duet benchmarking (Bulej et al. 2020)",
    evidence: "a look at the machine before the first trial; processes that a program leaves",
};

pub const CLOCK_AND_HEAT: CheckRow = CheckRow {
    id: "F12",
    name: "clock-and-heat",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid when throttling hit only some of the treatments",
    needs: "effective frequency and throttle counters while each treatment ran",
    fires: "median frequencies differ by more than 1 % and are not declared",
    why: "a hotter or slower processor is another processor",
    remedy: "fix the frequency, let the machine cool between trials, and interleave",
    source: "hyperfine#483; SPECpower methodology",
    evidence: "governor, turbo and throttle counters before the run, frequency and throttling after trials of a second",
};

pub const ENVIRONMENT_STABLE: CheckRow = CheckRow {
    id: "F13",
    name: "environment-stable",
    section: CheckSection::Environment,
    severity: I,
    escalation: "",
    needs: "descriptions before and after, boot ids",
    fires: "something changed during a treatment, or a reboot fell into it",
    why: "the trials before and after the change are of two systems",
    remedy: "find what changed it and run again",
    source: "own rule",
    evidence: "watched settings, read again after trials (at most once a second) and after the last",
};

pub const LAYOUT_SAMPLED: CheckRow = CheckRow {
    id: "F14",
    name: "layout-sampled",
    section: CheckSection::Environment,
    severity: W,
    escalation: "",
    needs: "how many memory layouts and builds each treatment sampled, and the size of the effect",
    fires: "the effect is below 5 % and a treatment sampled fewer than 5 layouts",
    why: "layout alone (addresses, environment, link order) shifts results by a few per cent",
    remedy: "leave address-space randomisation on, use a fresh process a trial, at least 5 trials; build revisions several times (`--builds 6`)",
    source: "Mytkowicz et al. 2009; Stabilizer 2013; Kalibera and Jones 2020",
    evidence: "address-space randomisation as described and as set by the control `aslr`",
};

pub const TIMER_AND_LENGTH: CheckRow = CheckRow {
    id: "F15",
    name: "timer-and-length",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid from a tenth of the timing, or when the window is shorter than the benchmark's rule",
    needs: "the clock's resolution and overhead, the shortest timing, the window",
    fires: "resolution and overhead are more than 1 % of a timing",
    why: "then the clock is measured",
    remedy: "time many operations at once",
    source: "Hoefler and Belli; MLPerf (600 s)",
    evidence: "the resolution and cost of the clock, measured once a run, and the shortest trial",
};

pub const MEMORY_NODES: CheckRow = CheckRow {
    id: "F62",
    name: "memory-nodes",
    section: CheckSection::Environment,
    severity: W,
    escalation: "",
    needs: "the NUMA nodes that a treatment is set to (controls numa and cpus, a workload's own parameter), and those on which its memory lay",
    fires: "more than 5 % of the memory of a trial that is set to one node, or to some of them, lay on others",
    why: "memory of another node is slower and its bandwidth is shared: the trial is not the one that its setting names",
    remedy: "free memory on that node first (controls drop_caches and compact_memory), or bind it (controls.numa = \"bind:N\"), which fails where there is none; see whether the program places its memory itself",
    source: "Lameter 2013; Documentation/admin-guide/mm/numa_memory_policy",
    evidence: "assay looks at numa_maps, or at the counters of the trial's control group, while a trial runs on a machine with several nodes",
};

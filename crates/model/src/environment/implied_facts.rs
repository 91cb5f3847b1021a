//! Table of the consequences of declared factors: for example, a machine with another processor has
//! other caches, which nobody can hold equal.

/// A factor (a path of facts or a prefix of one), the path prefixes that follow from it, and the
/// reason.
pub(crate) struct Entailment {
    /// Path of the declared factor, in whole parts.
    pub factor: &'static str,
    /// Prefixes of the facts that follow; `*` matches any one part.
    pub entailed: &'static [&'static str],
    /// The reason, as the end of a sentence that starts with the factor.
    pub why: &'static str,
}

/// The table, sorted by factor.
pub(crate) const ENTAILS: &[Entailment] = &[
    Entailment {
        factor: "block",
        entailed: &["mount", "used"],
        why: "what is mounted and used depends on the devices",
    },
    Entailment {
        factor: "cgroup.cpuset",
        entailed: &["numa"],
        why: "the CPUs decide which memory nodes are near",
    },
    Entailment {
        factor: "container",
        entailed: &["used", "workload.command"],
        why: "an image brings its programs and files",
    },
    Entailment {
        factor: "cpu.model",
        entailed: &[
            "cpu.cache",
            "cpu.clusters",
            "cpu.energy_preference",
            "cpu.family",
            "cpu.flags",
            "cpu.frequency",
            "cpu.idle",
            "cpu.microcode",
            "cpu.model_number",
            "cpu.stepping",
            "cpu.turbo",
            "cpu.vendor",
            "kernel.mitigation",
        ],
        why: "a processor brings its microcode, caches, frequency range and features",
    },
    Entailment {
        factor: "cpu.turbo",
        entailed: &["cpu.frequency.max_khz", "cpu.frequency.hardware_max_khz"],
        why: "turbo sets the highest frequency",
    },
    Entailment {
        factor: "dmi",
        entailed: &["dmi", "host.name"],
        why: "a board brings its firmware and its names",
    },
    Entailment {
        factor: "kernel.release",
        entailed: &[
            "kernel.build",
            "kernel.config",
            "kernel.modules",
            "kernel.sched_base_slice_ns",
            "kernel.sched_features",
            "kernel.version",
            "memory.page_size",
            "sysctl.kernel.osrelease",
            "sysctl.kernel.version",
        ],
        why: "a kernel brings its build, its configuration and its modules",
    },
    Entailment {
        factor: "memory.total",
        entailed: &["memory.dimms", "numa.*.memory", "sysctl.kernel.threads-max"],
        why: "the amount of memory follows from the modules and is spread over the nodes",
    },
    Entailment {
        factor: "os",
        entailed: &["libc", "locale", "os", "toolchain"],
        why: "a distribution brings its C library, its tools and its names",
    },
    Entailment {
        factor: "thp.enabled",
        entailed: &["thp"],
        why: "the mode of transparent huge pages decides the settings below it",
    },
    Entailment {
        factor: "virt",
        entailed: &["cpu.steal_since_boot", "dmi", "virt"],
        why: "a hypervisor presents a board of its own",
    },
];

/// Factors that are declared by themselves where the instruction sets of two systems differ.
pub(crate) const INSTRUCTION_SET: [&str; 5] =
    ["cpu.model", "kernel.arch", "libc", "memory.page_size", "toolchain"];

/// Two processors are in two machines: the facts, besides the processor, in which a comparison of
/// hardware always differs.
pub(crate) const HARDWARE: Entailment = Entailment {
    factor: "cpu.model",
    entailed: &[
        "block",
        "boot",
        "cpu",
        "dmi",
        "host.name",
        "hugepages",
        "kernel.arch",
        "memory",
        "mount",
        "net",
        "numa",
        "swap",
        "used",
    ],
    why: "another processor is another machine: its board, memory and devices come with it",
};

/// Facts, besides those of [`HARDWARE`], in which two instruction sets always differ.
pub(crate) const OTHER_BUILDS: Entailment = Entailment {
    factor: "kernel.arch",
    entailed: &[
        "cgroup.cpuset",
        "kernel",
        "locale",
        "os",
        "process.cpus_allowed",
        "virt",
        "workload",
    ],
    why: "the kernel and every program are other builds",
};

//! Arm processors: `/proc/cpuinfo` has numbers instead of model names, and the CPUs of one machine
//! may be of several models (big.LITTLE).

use assay_model::environment::cpulist;

use crate::Root;

/// Implementers (empty part) and their parts, in hexadecimal, with the source of each name.
const TABLE: &str = include_str!("arm_processors.csv");

/// The model of one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArmCpu {
    number: usize,
    /// Name of the implementer, or its number if that is unknown.
    pub vendor: String,
    /// Name of implementer and part, or their numbers.
    pub model: String,
    /// Variant and revision as Arm writes them: `r4p1`.
    pub stepping: Option<String>,
}

/// Parses `/proc/cpuinfo`; empty on other architectures.
pub(super) fn cpus(info: &str) -> Vec<ArmCpu> {
    info.split("\n\n").filter_map(cpu).collect()
}

fn cpu(block: &str) -> Option<ArmCpu> {
    let field = |name: &str| {
        let named = |line: &str| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        };
        block.lines().find_map(named)
    };
    let hex = |name: &str| {
        let text = field(name)?;
        u32::from_str_radix(text.strip_prefix("0x").unwrap_or(&text), 16).ok()
    };
    let (implementer, part) = (hex("CPU implementer")?, hex("CPU part")?);
    let maker = name(implementer, None);
    let model = match (maker, name(implementer, Some(part))) {
        (Some(maker), Some(part)) => format!("{maker} {part}"),
        (None, Some(part)) => part.to_owned(),
        (Some(maker), None) => format!("{maker} part {part:#05x}"),
        (None, None) => format!("implementer {implementer:#04x} part {part:#05x}"),
    };
    let revision = field("CPU revision");
    Some(ArmCpu {
        number: field("processor")?.parse().ok()?,
        vendor: maker.map_or_else(|| format!("{implementer:#04x}"), str::to_owned),
        model,
        stepping: hex("CPU variant").zip(revision).map(|(v, r)| format!("r{v}p{r}")),
    })
}

fn name(implementer: u32, part: Option<u32>) -> Option<&'static str> {
    let key = match part {
        Some(part) => format!("{implementer:02x},{part:03x},"),
        None => format!("{implementer:02x},,"),
    };
    TABLE.lines().find_map(|line| line.strip_prefix(&key)?.split(',').next())
}

/// True if `/proc/cpuinfo` names a processor that only an emulator has.
pub(super) fn emulated(info: &str) -> bool {
    cpus(info).iter().any(|cpu| cpu.model.ends_with("(emulated)"))
}

/// Describes the groups of equal CPUs, as `4 x Arm Cortex-A55 r2p0 (CPUs 0-3, capacity 530, at most
/// 1800 MHz) + ...`; `None` if all CPUs are equal.
pub(super) fn clusters(root: &Root, cpus: &[ArmCpu]) -> Option<String> {
    let mut groups: Vec<(String, String, Vec<usize>)> = Vec::new();
    for cpu in cpus {
        let file = |name: &str| -> Option<u64> {
            root.number(&format!("/sys/devices/system/cpu/cpu{}/{name}", cpu.number)).ok()
        };
        let model = [Some(&cpu.model), cpu.stepping.as_ref()];
        let model = model.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        let capacity = file("cpu_capacity").map(|c| format!(", capacity {c}"));
        let highest = file("cpufreq/cpuinfo_max_freq");
        let highest = highest.map(|khz| format!(", at most {} MHz", khz / 1000));
        let more = capacity.unwrap_or_default() + &highest.unwrap_or_default();
        match groups.iter_mut().find(|(m, s, _)| *m == model && *s == more) {
            Some((_, _, numbers)) => numbers.push(cpu.number),
            None => groups.push((model, more, vec![cpu.number])),
        }
    }
    let text = |(model, more, numbers): &(String, String, Vec<usize>)| {
        format!("{} x {model} (CPUs {}{more})", numbers.len(), cpulist::format(numbers))
    };
    (groups.len() > 1).then(|| groups.iter().map(text).collect::<Vec<_>>().join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_one_processor_and_its_source() {
        let rows: Vec<Vec<&str>> =
            TABLE.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert!(rows.len() > 90);
        for row in &rows {
            let hex = |text: &str| u32::from_str_radix(text, 16).ok();
            let (implementer, part) = (hex(row[0]).unwrap(), hex(row[1]));
            assert_eq!(part.is_none(), row[1].is_empty(), "{row:?}");
            assert_eq!((row.len(), name(implementer, part)), (4, Some(row[2])), "{row:?}");
            assert!(row[3].contains(".h") || row[3].contains(".c"), "{row:?}");
        }
    }

    #[test]
    fn numbers_stand_for_what_has_no_name() {
        let model = |implementer: &str, part: &str| {
            let info = format!(
                "processor\t: 3\nCPU implementer\t: {implementer}\nCPU architecture: 8\n\
                 CPU variant\t: 0x4\nCPU part\t: {part}\nCPU revision\t: 1\n"
            );
            let cpu = cpus(&info).remove(0);
            (cpu.vendor, cpu.model, cpu.stepping.unwrap())
        };
        let of = |vendor: &str, name: &str| (vendor.into(), name.into(), "r4p1".to_owned());
        assert_eq!(model("0x41", "0xd0c"), of("Arm", "Arm Neoverse-N1"));
        assert_eq!(model("0x41", "0xfff"), of("Arm", "Arm part 0xfff"));
        assert_eq!(model("0x99", "0x001"), of("0x99", "implementer 0x99 part 0x001"));
        assert_eq!(model("0x00", "0x051"), of("0x00", "QEMU max (emulated)"));
        assert_eq!(cpus("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: x\n"), []);
    }
}

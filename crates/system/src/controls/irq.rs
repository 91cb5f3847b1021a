//! `irq`: the CPUs that may serve an interrupt.

use std::os::unix::fs::PermissionsExt as _;

use assay_model::environment::cpulist;
use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::knob::Knob;
use crate::control::{Control, ControlScope, ControlSession, ControlSpec, setting_path};
use crate::error::{ControlError, Result};

use super::cpus::offline;

pub(super) struct Irq;

static SPEC: ControlSpec = ControlSpec {
    name: "irq",
    help: "The CPUs that may serve interrupts.",
    levels: "a list of CPUs such as `0-1,3`",
    keyed: true,
    key: "an interrupt's number, or a name in /proc/interrupts for all with it, as in `irq.eth0`",
    scope: ControlScope::System,
    needs: "root, and interrupts whose CPUs the kernel lets root choose (not those of NVMe and of \
            some network cards)",
    put_back: "the previous CPUs, journaled for each interrupt; affects the machine while set",
    probe: ("", ""),
};

impl Irq {
    /// Returns the numbers of the interrupts that a key names.
    fn numbers(root: &Root, key: &str) -> Result<Vec<u32>> {
        let wrong = |reason: String| ControlError::Key { path: path(key), reason };
        let table = root.text("/proc/interrupts").map_err(|e| wrong(e.to_string()))?;
        let all = interrupts(&table);
        let by_number = key.parse().ok().filter(|n| all.iter().any(|(known, _)| known == n));
        let found: Vec<u32> = match by_number {
            Some(number) => vec![number],
            None => all
                .iter()
                .filter(|(_, names)| named(names, key))
                .map(|(number, _)| *number)
                .collect(),
        };
        if found.is_empty() {
            let known: Vec<&str> =
                all.iter().filter_map(|(_, names)| names.split(' ').next_back()).collect();
            return Err(wrong(format!(
                "no interrupt has that number or name; there are {}",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        }
        Ok(found)
    }
}

/// Parses the numbered interrupts of `/proc/interrupts`, each with the words after its counts.
fn interrupts(table: &str) -> Vec<(u32, String)> {
    let mut lines = table.lines();
    let cpus = lines.next().map_or(0, |head| head.split_whitespace().count());
    lines
        .filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let words: Vec<&str> = rest.split_whitespace().skip(cpus).collect();
            Some((number.trim().parse().ok()?, words.join(" ")))
        })
        .collect()
}

/// True if the words of an interrupt contain this name: as a whole word, or as the part before a
/// `-` (`eth0-TxRx-0` and `virtio1-input.0` are interrupts of `eth0` and `virtio1`). Shared lines
/// list names separated by commas.
fn named(words: &str, name: &str) -> bool {
    words.split([' ', ',']).any(|word| {
        word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    })
}

fn path(key: &str) -> String {
    setting_path(SPEC.name, key)
}

fn knob<'a>(control: &'a Irq, key: &'a str, number: u32) -> Knob<'a> {
    Knob { control, key, file: format!("/proc/irq/{number}/smp_affinity_list") }
}

impl Control for Irq {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    // Interrupts differ between machines, and the kernel manages some of them itself.
    fn probes(&self, root: &Root, cpu: usize) -> Vec<Setting> {
        let numbers = root.names("/proc/irq").into_iter().filter(|n| n.parse::<u32>().is_ok());
        numbers.map(|n| SPEC.setting(&n, Scalar::Text(cpu.to_string()))).collect()
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let level = level(setting)?;
        let not_here = |reason: String| ControlError::NotHere { path: path(&setting.key), reason };
        if let Some(reason) = offline(root, &cpulist::parse(&level).unwrap_or_default()) {
            return Err(not_here(reason));
        }
        for number in Irq::numbers(root, &setting.key)? {
            let knob = knob(self, &setting.key, number);
            let file = root.path(&knob.file);
            // Root may open a file that the kernel made read-only, but writing to it fails.
            if file.metadata().is_ok_and(|m| m.permissions().mode() & 0o222 == 0) {
                return Err(not_here(format!(
                    "the kernel chooses the CPUs of interrupt {number}; pick others by number"
                )));
            }
            knob.check(root)?;
        }
        Ok(())
    }

    fn current(&self, root: &Root, key: &str) -> Result<Scalar> {
        let mut levels: Vec<String> = Irq::numbers(root, key)?
            .into_iter()
            .map(|number| knob(self, key, number).read(root))
            .collect::<Result<_, _>>()?;
        levels.dedup();
        Ok(Scalar::Text(levels.join(" ")))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let level = level(setting)?;
        for number in Irq::numbers(session.root, &setting.key)? {
            // Journaled by number, because the interrupts of one name may have had different CPUs.
            let key = number.to_string();
            knob(self, &key, number).change(session, &level)?;
        }
        Ok(())
    }

    fn restore(&self, root: &Root, key: &str, old: &str) -> Result<()> {
        for number in Irq::numbers(root, key)? {
            knob(self, key, number).set(root, old)?;
        }
        Ok(())
    }

    fn target(&self, root: &Root, key: &str) -> Option<String> {
        match Irq::numbers(root, key).ok()?.as_slice() {
            [one] => Some(knob(self, key, *one).file),
            _ => None,
        }
    }
}

fn level(setting: &Setting) -> Result<String> {
    let text = setting.value.to_text();
    cpulist::parse(&text).map(|l| cpulist::format(&l)).map_err(|_| SPEC.not_a_level(setting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Controller, parse_setting};

    const TABLE: &str = "           CPU0       CPU1       \n \
        24:          1          0  IO-APIC   5-edge      ACPI:Ged\n \
        34:        239          0 PCI-MSIX-0000:00:05.0   1-edge      eth0-TxRx-0\n \
        35:          0          7 PCI-MSIX-0000:00:05.0   2-edge      eth0-TxRx-1\n \
        36:          0          7 IO-APIC  16-fasteoi   ehci_hcd:usb1, eth01\n\
        NMI:          0          0   Non-maskable interrupts\n";

    fn machine() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/interrupts", TABLE);
        put("sys/devices/system/cpu/online", "0-1\n");
        for (number, cpus) in [(24, "0-1"), (34, "0"), (35, "1"), (36, "0-1")] {
            put(&format!("proc/irq/{number}/smp_affinity_list"), &format!("{cpus}\n"));
        }
        dir
    }

    #[test]
    fn interrupts_are_found_by_number_and_by_name() {
        let dir = machine();
        let root = Root::at(dir.path());
        let numbers = |key: &str| Irq::numbers(&root, key).unwrap();
        assert_eq!(numbers("24"), [24]);
        assert_eq!(numbers("eth0"), [34, 35]);
        assert_eq!(numbers("eth01"), [36]);
        assert_eq!(numbers("eth0-TxRx-1"), [35]);
        for key in ["eth", "99", "NMI", "../x"] {
            let error = Irq::numbers(&root, key).unwrap_err().to_string();
            assert!(error.contains("eth0-TxRx-0"), "{error}");
        }
    }

    #[test]
    fn all_interrupts_of_a_name_are_set_and_each_is_put_back() {
        let dir = machine();
        let read = |n: u32| {
            let file = dir.path().join(format!("proc/irq/{n}/smp_affinity_list"));
            std::fs::read_to_string(file).unwrap().trim().to_owned()
        };
        let controller = Controller::new(dir.path().join("state"), Root::at(dir.path()));
        let settings = [parse_setting("irq.eth0", &Scalar::Text("0,1".into())).unwrap()];
        controller.check(&settings).unwrap();
        let applied = controller.apply(&settings).unwrap();
        assert_eq!([read(34), read(35)], ["0-1", "0-1"]);
        applied.restore().unwrap();
        assert_eq!([read(34), read(35)], ["0", "1"]);
    }

    #[test]
    fn what_cannot_be_set_is_reported_before() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = machine();
        let file = dir.path().join("proc/irq/35/smp_affinity_list");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o444)).unwrap();
        let controller = Controller::new(dir.path().join("state"), Root::at(dir.path()));
        let say = |path: &str, level: &str| {
            let setting = parse_setting(path, &Scalar::Text(level.into())).unwrap();
            controller.check(&[setting]).unwrap_err().to_string()
        };
        assert!(say("irq.eth0", "0").contains("interrupt 35"));
        assert!(say("irq.24", "7").contains("CPU 7 is not online"));
        assert!(say("irq.24", "all").contains("a list of CPUs"));
    }
}

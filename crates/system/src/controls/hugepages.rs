//! `hugepages`: the number of huge pages that the kernel keeps in a pool.

use assay_model::Setting;
use assay_model::units::{format_bytes, parse_bytes};

use crate::Root;
use crate::control::knob::Knob;
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::describe::meminfo_bytes;
use crate::error::{ControlError, Result};

pub(super) struct Hugepages;

static SPEC: ControlSpec = ControlSpec {
    name: "hugepages",
    help: "Number of huge pages that the kernel reserves for programs that request them.",
    levels: "a count from 0",
    keyed: false,
    key: "the page size, as in `hugepages.1GiB`; 2 MiB without one",
    scope: ControlScope::System,
    needs: "root, and as much free contiguous memory",
    put_back: "the previous count, journaled; a pool that the kernel could not fill is an error",
    probe: ("", "1"),
};

impl Control for Hugepages {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn knob<'a>(&'a self, _root: &Root, key: &'a str) -> Result<Knob<'a>> {
        let kib = page_bytes(key)? >> 10;
        let file = format!("/sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages");
        Ok(Knob { control: self, key, file })
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let count = level(setting)?;
        let knob = self.knob(root, &setting.key)?;
        if !root.exists(&knob.file) {
            let sizes: Vec<String> = root
                .names("/sys/kernel/mm/hugepages")
                .iter()
                .filter_map(|n| {
                    n.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse::<u64>().ok()
                })
                .filter_map(|kib| kib.checked_mul(1024).map(format_bytes))
                .collect();
            return Err(ControlError::NotHere {
                path: knob.path(),
                reason: format!(
                    "this machine has pages of {}",
                    if sizes.is_empty() { "one size only".to_owned() } else { sizes.join(", ") }
                ),
            });
        }
        knob.check(root)?;
        let held: u64 = knob.read(root)?.parse().unwrap_or(0);
        let more = u128::from(count.saturating_sub(held)) * u128::from(page_bytes(&setting.key)?);
        let available =
            root.text("/proc/meminfo").ok().and_then(|m| meminfo_bytes(&m, "MemAvailable"));
        match available {
            Some(free) if more > u128::from(free) => Err(ControlError::NotHere {
                path: knob.path(),
                reason: format!(
                    "{count} pages need {} more, but {} are available",
                    format_bytes(u64::try_from(more).unwrap_or(u64::MAX)),
                    format_bytes(free)
                ),
            }),
            _ => Ok(()),
        }
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        self.knob(session.root, &setting.key)?.change(session, &level(setting)?.to_string())
    }
}

fn page_bytes(key: &str) -> Result<u64> {
    if key.is_empty() {
        return Ok(2 << 20);
    }
    let size = parse_bytes(key).ok().filter(|b| b.is_power_of_two() && *b >= 4096);
    size.ok_or_else(|| {
        SPEC.not_a_key(key, format!("`{key}` is not a page size; write one such as 2MiB or 1GiB"))
    })
}

fn level(setting: &Setting) -> Result<u64> {
    let count = setting.value.as_i64().and_then(|n| u64::try_from(n).ok());
    count.ok_or_else(|| SPEC.not_a_level(setting))
}

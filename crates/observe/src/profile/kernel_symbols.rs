//! The kernel's functions by address (`/proc/kallsyms`).

use std::path::Path;

/// Names by address.
#[derive(Debug, Default)]
pub(super) struct KernelSymbols {
    text: String,
    /// Address, and where the name begins and ends; by address.
    functions: Vec<(u64, u32, u32)>,
}

impl KernelSymbols {
    /// Reads them under a root; empty where the kernel hides them.
    pub fn read(root: &Path) -> Self {
        Self::parse(std::fs::read_to_string(root.join("proc/kallsyms")).unwrap_or_default())
    }

    fn parse(text: String) -> Self {
        let mut functions = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let begin = at;
            at += line.len();
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            if address == 0 || !matches!(kind, "t" | "T" | "w" | "W") {
                continue;
            }
            let start = begin + line.find(name).unwrap_or(0);
            // Texts of more than 4 GiB are no kernel's.
            functions.push((address, start as u32, (start + name.len()) as u32));
        }
        functions.sort_by_key(|f| f.0);
        KernelSymbols { text, functions }
    }

    /// Whether the kernel hides them.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function at an address.
    pub fn name(&self, address: u64) -> Option<&str> {
        let at = self.functions.partition_point(|f| f.0 <= address).checked_sub(1)?;
        let (start, from, to) = self.functions[at];
        // Beyond the last function there is nothing of the kernel that has a name.
        let last = at + 1 == self.functions.len() && address - start > 1 << 20;
        (!last).then(|| &self.text[from as usize..to as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_by_address() {
        let text = "\
ffffffff81000000 T _text
ffffffff81000100 t do_idle
ffffffff81000200 D data
ffffffffc0000000 t in_module\t[mod]
";
        let k = KernelSymbols::parse(text.to_owned());
        assert_eq!(k.name(0xffffffff81000150), Some("do_idle"));
        assert_eq!(k.name(0xffffffffc0000001), Some("in_module"));
        assert_eq!(k.name(0xffffffff80ffffff), None);
        assert!(KernelSymbols::parse("0000000000000000 T _text\n".into()).is_empty());
    }
}

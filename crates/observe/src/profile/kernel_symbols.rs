//! Kernel functions by address, from `/proc/kallsyms`.

use std::path::Path;

/// Table of function names by address.
#[derive(Debug, Default)]
pub(super) struct KernelSymbols {
    text: String,
    /// Address of each function, and range of its name in `text`; sorted by address.
    functions: Vec<(u64, u32, u32)>,
}

impl KernelSymbols {
    /// Reads the table under a root; empty if the kernel hides it.
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
            // The kernel's table is far below 4 GiB, so 32-bit offsets suffice.
            functions.push((address, start as u32, (start + name.len()) as u32));
        }
        functions.sort_by_key(|f| f.0);
        KernelSymbols { text, functions }
    }

    /// Returns true if the kernel hides its addresses.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns the name of the function at an address.
    pub fn name(&self, address: u64) -> Option<&str> {
        let at = self.functions.partition_point(|f| f.0 <= address).checked_sub(1)?;
        let (start, from, to) = self.functions[at];
        // Addresses far beyond the last function have no name.
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

//! What the targets share: a reader by its name, called with whatever the fuzzer makes up.

pub use assay_iotrace::probe::PROBES;
pub use libfuzzer_sys::fuzz_target;

/// A target for the reader of this name.
#[macro_export]
macro_rules! reader {
    ($name:literal) => {
        $crate::fuzz_target!(|bytes: &[u8]| {
            let probe = $crate::PROBES.iter().find(|p| p.name == $name);
            (probe.expect("a reader of this name").read)(bytes);
        });
    };
}

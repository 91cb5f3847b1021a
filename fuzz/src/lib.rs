//! What the targets share: a reader by its name, called with whatever the fuzzer makes up.

pub use assay_traces::block_io::probe::PROBES;
pub use libfuzzer_sys::fuzz_target;

/// Lets a panic of a dependency unwind: the reader of Parquet takes those for a damaged file. One that
/// nobody catches ends the fuzzer all the same; one of our own code ends it at once.
pub fn let_dependencies_panic() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|at| at.file().contains("/registry/src/")) {
            abort(panic);
        }
    }));
}

/// A target for the reader of this name.
#[macro_export]
macro_rules! reader {
    ($name:literal) => {
        $crate::fuzz_target!(init: $crate::let_dependencies_panic(), |bytes: &[u8]| {
            let probe = $crate::PROBES.iter().find(|p| p.name == $name);
            (probe.expect("a reader of this name").read)(bytes);
        });
    };
}

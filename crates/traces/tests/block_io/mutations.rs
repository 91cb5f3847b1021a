//! Reads twenty thousand damaged inputs with every reader; none may panic. `scripts/fuzz` reads
//! more.

use assay_traces::block_io::probe::PROBES;

fn many(name: &str) {
    let probe = PROBES.iter().find(|p| p.name == name).unwrap();
    crate::mutation::run(probe, 20_000, 1);
}

macro_rules! readers {
    ($($name:ident),*) => {
        $(#[test] fn $name() { many(stringify!($name)); })*

        #[test]
        fn all_are_here() {
            let here = [$(stringify!($name)),*];
            assert_eq!(PROBES.map(|p| p.name), here);
        }
    };
}

readers!(blktrace, blkparse, tracepoints, snoop, msr, alibaba, tencent, iostat, quantize, parquet);

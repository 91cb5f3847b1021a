//! The files of `published/`, built into the program, so that landscapes do not depend on an
//! installation.

/// Expands to the name and text of one file.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../published/", $name)))
    };
}

/// Name and text of every file of results.
pub const FILES: &[(&str, &str)] = &[
    file!("cabinet.csv"),
    file!("dd-buffer-size.csv"),
    file!("dtrace-io-start.csv"),
    file!("dtrace-quantize.csv"),
    file!("iostat.csv"),
    file!("memcached.csv"),
    file!("nastran-vendor-2008.csv"),
    file!("solaris-9-to-10.csv"),
    file!("soplex-startup.csv"),
    file!("spec-workshop.csv"),
    file!("speccpu2006-fp-rate.csv"),
    file!("speccpu2006-fp-speed.csv"),
    file!("speccpu2006-int-rate.csv"),
    file!("speccpu2006-int-speed.csv"),
    file!("specjbb2005.csv"),
    file!("trapstat.csv"),
];

/// Documents that the results are quoted from.
pub const SOURCES: &str = include_str!("../../../../published/sources.csv");

/// Definitions of the landscapes.
pub const DEFINITIONS: &str = include_str!("../../../../published/landscapes.toml");

//! The files of `published/`, built in, so that landscapes work wherever the program is.

/// Name and text of one.
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

/// The documents that they are quoted from.
pub const SOURCES: &str = include_str!("../../../../published/sources.csv");

/// The definitions of landscapes over them.
pub const DEFINITIONS: &str = include_str!("../../../../published/landscapes.toml");

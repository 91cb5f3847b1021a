//! Whatever the bytes, the reader of msr comes to an end.
#![no_main]

assay_fuzz::reader!("msr");

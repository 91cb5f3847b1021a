//! Whatever the bytes, the reader of iostat comes to an end.
#![no_main]

assay_fuzz::reader!("iostat");

//! Whatever the bytes, the reader of snoop comes to an end.
#![no_main]

assay_fuzz::reader!("snoop");

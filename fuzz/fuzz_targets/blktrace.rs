//! Whatever the bytes, the reader of blktrace comes to an end.
#![no_main]

assay_fuzz::reader!("blktrace");

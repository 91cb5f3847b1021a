//! Whatever the bytes, the reader of blkparse comes to an end.
#![no_main]

assay_fuzz::reader!("blkparse");

//! Whatever the bytes, the reader of tencent comes to an end.
#![no_main]

assay_fuzz::reader!("tencent");

//! Whatever the bytes, the reader of alibaba comes to an end.
#![no_main]

assay_fuzz::reader!("alibaba");

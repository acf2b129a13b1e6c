#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lochan_fuzz::filter::filter(data));

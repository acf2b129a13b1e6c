#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lochan_fuzz::targets::json(data));

//! The suites of the whole, a test program each in `suites/`: the layers, the two APIs in process, the command line and the
//! development server. This library holds nothing itself; crates of tests need one.

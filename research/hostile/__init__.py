"""Files made to cost or to crash, a fuzzer, and kills at random moments."""

"""Kernels: arrays in, arrays out; no classes, no validation, nothing else of flagstone."""

"""Benchmarks: `python -m benchmarks [NAME…]` prints ratios measured in one run."""

"""Pure values: quantities, value sets of labels, selectors, taints. No model, no I/O."""

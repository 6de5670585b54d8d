"""Node groups of every format that declares them, read into one form (`cluster-autoscaler.md` §6): a module each."""

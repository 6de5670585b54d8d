"""How long until a pod serves: stages as intervals, paths per workload and pool, and what would shorten them."""

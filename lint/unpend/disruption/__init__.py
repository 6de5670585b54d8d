"""What keeps nodes from going away: eviction costs, blockers, budgets."""

"""How many replicas can run at once: an upper bound, a placement that proves a lower one, and a search for the gap."""

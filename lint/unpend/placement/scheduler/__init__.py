"""kube-scheduler's filter plugins over a space of node shapes, one module per plugin (default profile, A1)."""

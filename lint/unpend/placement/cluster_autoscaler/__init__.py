"""Node groups: who scales them, what Cluster Autoscaler imagines, what the nodes really are."""

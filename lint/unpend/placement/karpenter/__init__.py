"""What Karpenter decides: its own arithmetic on requirements, and what it would launch for a pod."""

"""`.unpend.yaml`: reading it, and the settings that follow from it. Every value keeps its place."""

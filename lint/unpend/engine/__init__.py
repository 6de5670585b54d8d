"""Runs rules over clusters and makes one ordered result of what they find."""

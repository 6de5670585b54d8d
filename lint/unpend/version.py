"""The version of unpend."""

__version__ = "0.1.0"

"""Typed, frozen objects read from documents; every value knows its place."""

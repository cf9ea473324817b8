"""Semantic and keyword search for Fossil repositories."""

__version__ = "0.1.0"

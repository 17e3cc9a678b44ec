"""decibench: a pytest-native benchmark for decision models."""

__version__ = "0.1.0"

"""Metrics, each defined once in a file of its own, over numpy arrays of shape (decisions,).

``correct`` is False where a decision failed. A function returns None where it has nothing to average.
"""

"""What may be set of an adapter in a candidates file: a model per adapter, checked before anything is built."""

from __future__ import annotations

from collections.abc import Mapping

from decibench.cases.schema import Model, Text


class Settings(Model):
    """Settings of an adapter; this one takes none."""

    def lacks(self, environment: Mapping[str, str]) -> str | None:
        """What ``environment`` lacks to run with these settings, as a sentence: the candidate is then not run."""
        return None


class ModelSettings(Settings):
    """An adapter of which a model can be chosen."""

    model: Text | None = None

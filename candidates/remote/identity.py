"""Who a remote candidate is: what a server is told beside the state and the questions of a case."""

from __future__ import annotations

import hashlib
from typing import Final

from decibench.candidates.adapter import Identity, JsonScalar
from decibench.candidates.remote.wire import Wire
from decibench.cases.jsonio import canonical_json
from decibench.cases.request import Request
from decibench.cases.schema import Choice, Noul, NoulCriteria, Score

SPECIMENS: Final = (
    Request(
        "A text.",
        {
            "described": Choice(type="choice", instructions="Which?", criteria={"a": "The one.", "b": None, "c": ""}),
            "both": Noul(type="noul", instructions="It holds.", criteria=NoulCriteria(true="It does.", false="Not.")),
        },
    ),
    Request({"is": "JSON"}, {"levels": Score(type="score", instructions="How much?", criteria=["None.", "Some."])}),
    Request(["A list."], {"bare": Noul(type="noul", instructions="It holds.")}),
)
"""Requests with every kind of state and question."""


def remote_identity(wire: Wire, *, probability_readout: bool = True, **more: JsonScalar) -> Identity:
    """The identity of ``wire``, which has all but that: where and who is asked, ``more`` settings, and how it asks.

    The last is ``wire_sha256``, the SHA-256 (hex) of the headers and of the bodies of the specimens, without the name
    of the model: a format that asks any of them in another way is another candidate.
    """
    settings = wire.settings
    return Identity(
        model=settings.expect_model or settings.model,
        device="remote",
        decimals=settings.decimals,
        settings={
            "api": wire.api,
            "url": wire.url,
            "asked_model": settings.model,
            **more,
            "wire_sha256": _sha256_of(wire),
        },
        alias=settings.expect_model is None,
        probability_readout=probability_readout,
    )


def _sha256_of(wire: Wire) -> str:
    # The order of keys counts, for that of options does.
    bodies = [{**body, "model": None} for specimen in SPECIMENS for body in wire.bodies(specimen)]
    return hashlib.sha256(canonical_json([dict(wire.headers), bodies]).encode()).hexdigest()

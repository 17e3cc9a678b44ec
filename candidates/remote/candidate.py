"""A remote model as a candidate: a wire format, asked through the transport."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from decibench.candidates.adapter import Answer, Attempt, CandidateError, Identity, Traffic, Usage
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.budget import Spending
from decibench.candidates.remote.headers import headers_of
from decibench.candidates.remote.transport import Key, Reply, Transport
from decibench.candidates.remote.wire import Wire, answer_in
from decibench.cases.request import Request


class RemoteCandidate:
    """Asks a model over HTTP. ``decide`` is safe between threads."""

    def __init__(self, wire: Wire, allowance: Allowance) -> None:
        self._wire = wire
        settings = wire.settings
        self._transport = Transport(
            wire.url,
            headers=headers_of(wire),
            key=_key_of(wire),
            deadline_s=allowance.deadline_s or settings.deadline_s,
            retries=allowance.retries,
            requests_per_minute=allowance.requests_per_minute,
            keep_raw=allowance.keep_raw,
            spending=Spending(
                allowance.budget,
                allowance.prices.find(settings.host, wire.api, settings.model),
                wire.most_output_tokens,
            ),
        )

    @property
    def identity(self) -> Identity:
        """What exactly is asked."""
        return self._wire.identity

    def decide(self, request: Request) -> Answer:
        """Post the bodies of ``request`` one after the other, and read the replies; CandidateError where one fails."""
        replies: list[Reply] = []
        for body in self._bodies(request):
            try:
                replies.append(self._transport.post(body, self._wire.usage))
            except CandidateError as error:
                raise _told(error, *replies, error) from None
        try:
            answer = answer_in(self._wire, request, [reply.content for reply in replies])
        except CandidateError as error:
            raise _told(error, *replies) from None
        return replace(
            answer,
            model=self._transport.redacted(answer.model) if isinstance(answer.model, str) else answer.model,
            usage=_usage([reply.usage for reply in replies]),
            traffic=_traffic([reply.traffic for reply in replies]),
        )

    def synchronize(self) -> None:
        """The server is idle as far as anyone here can tell."""

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _bodies(self, request: Request) -> Sequence[Mapping[str, Any]]:
        try:
            return self._wire.bodies(request)
        except CandidateError as error:
            raise _told(error) from None


def _key_of(wire: Wire) -> Key | None:
    # A function of its own: no frame that something is raised in holds the key.
    variable, (header, prefix) = wire.settings.key_env, wire.key_header
    return None if variable is None else Key(header, prefix, os.environ[variable].strip())


def _told(error: CandidateError, *took: Reply | CandidateError) -> CandidateError:
    """``error`` with what all bodies of its request ``took``: nothing where there were none."""
    return CandidateError(
        error.code,
        error.detail,
        fatal=error.fatal,
        usage=_usage([part.usage for part in took]),
        traffic=_traffic([part.traffic for part in took]),
        unasked=error.unasked and len(took) == 1,
    )


def _usage(parts: Sequence[Usage]) -> Usage:
    def total(values: Sequence[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None

    return Usage(
        total([part.input_tokens for part in parts]),
        total([part.output_tokens for part in parts]),
        total([part.cached_tokens for part in parts]),
    )


def _traffic(parts: Sequence[Traffic]) -> Traffic:
    earlier: list[Attempt] = []
    for part in parts:
        earlier += part.earlier
    return Traffic(
        earlier,
        sum(part.waited_s for part in parts),
        sum(part.held_s for part in parts),
        [reply for part in parts for reply in part.raw],
    )

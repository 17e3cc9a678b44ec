"""A remote model as a candidate: a wire format, asked through the transport."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
        for body in self._wire.bodies(request):
            try:
                replies.append(self._transport.post(body, self._wire.usage))
            except CandidateError as error:
                # Tokens of the last attempt are not known, and so not those of all.
                raise _told(error, Usage(), replies, error.traffic) from None
        try:
            answer = answer_in(self._wire, request, [reply.content for reply in replies])
        except CandidateError as error:
            raise _told(error, _usage(replies), replies, Traffic()) from None
        return replace(
            answer,
            model=self._transport.redacted(answer.model) if isinstance(answer.model, str) else answer.model,
            usage=_usage(replies),
            traffic=_traffic([reply.traffic for reply in replies]),
        )

    def synchronize(self) -> None:
        """The server is idle as far as anyone here can tell."""

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _key_of(wire: Wire) -> Key | None:
    # A function of its own: no frame that something is raised in holds the key.
    variable, (header, prefix) = wire.settings.key_env, wire.key_header
    return None if variable is None else Key(header, prefix, os.environ[variable].strip())


def _told(error: CandidateError, usage: Usage, replies: Sequence[Reply], last: Traffic) -> CandidateError:
    """``error`` with what all bodies of its request took."""
    traffic = _traffic([*(reply.traffic for reply in replies), last])
    return CandidateError(error.code, error.detail, fatal=error.fatal, usage=usage, traffic=traffic)


def _usage(replies: Sequence[Reply]) -> Usage:
    def total(values: Sequence[Any]) -> int | None:
        return None if not values or None in values else sum(values)

    return Usage(
        total([reply.usage.input_tokens for reply in replies]),
        total([reply.usage.output_tokens for reply in replies]),
        total([reply.usage.cached_tokens for reply in replies]),
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

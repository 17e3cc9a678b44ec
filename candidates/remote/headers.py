"""The headers of a request, but that of the key."""

from __future__ import annotations

from collections.abc import Mapping

import decibench
from decibench.candidates.remote.wire import Wire


def headers_of(wire: Wire) -> Mapping[str, str]:
    """What is sent beside the key, and beside what HTTP itself needs: Host, Content-Length and Connection."""
    return {
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # What is compressed could be a thousand times larger than it looks.
        "Content-Type": "application/json",
        "User-Agent": f"decibench/{decibench.__version__}",
        **wire.headers,
    }

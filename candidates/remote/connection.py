"""Connections that keep a deadline as a whole, and the way to a host: directly, or through a proxy.

HTTP clients give each wait for bytes its timeout anew, so that a server which sends them one by one is never late.
Here the timeout of a request is a moment on the monotonic clock, and whoever waits gets what is left until then.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from decibench.candidates.adapter import CandidateError
from decibench.candidates.remote.refusals import Refusal
from decibench.candidates.remote.settings import is_loopback

_SLICE: Final = 64 * 1024


def until(moment: float) -> dict[str, Any]:
    """Extensions of a request that has to be over at ``moment`` of ``time.monotonic()``."""
    return {"timeout": dict.fromkeys(("connect", "write", "read"), moment)}


class Connections(httpx.BaseTransport):
    """A pool of kept connections for requests with ``until``; safe between threads.

    Proxies of the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, less NO_PROXY) are used, but never to a loopback
    address: a key may travel there unencrypted. Certificates are always verified, by the authorities of certifi or
    those that SSL_CERT_FILE or SSL_CERT_DIR name. CandidateError (invalid-proxy, invalid-certificates) where the
    environment names what cannot be used.
    """

    def __init__(self, url: str) -> None:
        try:
            proxy = _proxy_to(url)
        except (ValueError, httpx.InvalidURL):
            # Raised here, because a proxy's address may hold a password, which no frame of a traceback may show.
            detail = "the proxy that the environment names is no http:// or https:// URL; correct or unset it"
            raise CandidateError("invalid-proxy", detail) from None
        self._pool = httpcore.ConnectionPool(
            ssl_context=_authorities(),
            proxy=proxy,
            max_connections=None,
            max_keepalive_connections=100,
            keepalive_expiry=60,
            network_backend=_Network(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request``; the exceptions of httpcore pass through."""
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def refusal_from(error: Exception, deadline_s: float) -> Refusal:
    """What an exception of the HTTP client means, by its kind: its message may quote a header or a body.

    ``deadline_s`` are the seconds that the attempt had.
    """
    if isinstance(error, httpcore.TimeoutException):
        return Refusal("timeout", f"no complete reply within {deadline_s:g} s", again=True)
    if isinstance(error, httpcore.ProxyError):
        return Refusal("proxy-failed", "the proxy that the environment names refuses the connection", unsent=True)
    # The pool of httpcore takes the cause of an exception away, and leaves its context.
    reason = error.__context__
    if isinstance(reason, ssl.SSLCertVerificationError):
        detail = "the server's certificate is not trusted, or not for this host; SSL_CERT_FILE names more authorities"
        return Refusal("untrusted-certificate", detail, unsent=True)
    if isinstance(reason, ssl.SSLError) and isinstance(error, httpcore.ConnectError):
        detail = "the server does not speak TLS as it should; check the endpoint and its port"
        return Refusal("tls-failed", detail, unsent=True)
    if isinstance(error, httpcore.ConnectError):
        return Refusal("connection-failed", "no connection to the server", again=True, unsent=True)
    kind = type(error).__name__
    if isinstance(error, httpcore.NetworkError | httpcore.RemoteProtocolError):
        detail = f"the connection broke before the reply was complete, or the reply is no HTTP ({kind})"
        return Refusal("connection-lost", detail, again=True)
    return Refusal("client-error", f"the request could not be sent, or its reply not be received ({kind})")


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class _Network(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _SLICE):
            self._inner.write(buffer[start : start + _SLICE], _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _left(timeout, httpcore.ConnectTimeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(moment: float | None, late: type[httpcore.TimeoutException]) -> float:
    assert moment is not None
    seconds = moment - time.monotonic()
    if seconds <= 0:
        raise late
    return seconds


def _authorities() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except OSError:
        detail = "SSL_CERT_FILE or SSL_CERT_DIR names no readable file of authorities; correct or unset it"
        raise CandidateError("invalid-certificates", detail) from None


def _proxy_to(url: str) -> httpcore.Proxy | None:
    parts = urlsplit(url)
    if is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named:
        return None
    proxy = httpx.Proxy(named if "://" in named else f"http://{named}")
    if proxy.url.scheme not in ("http", "https"):
        raise ValueError("a proxy of another kind")
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw)

"""The way to a server: certificates are verified, and proxies of the environment used where they have to be."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from decibench.candidates.adapter import CandidateError

Serve: TypeAlias = Callable[..., Any]
Ask: TypeAlias = Callable[..., Any]
Reply: TypeAlias = Callable[..., bytes]
MakeAnswer: TypeAlias = Callable[..., dict[str, Any]]
Certificate: TypeAlias = Callable[[str], Path]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    """Make a certificate that signs itself, with its key, for an address or name such as ``IP:127.0.0.1``."""
    openssl = shutil.which("openssl")
    if openssl is None:
        reason = "openssl is not here to make a certificate"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)

    def make(name: str) -> Path:
        file = tmp_path / "server.pem"
        subject = ["-subj", "/CN=own", "-addext", f"subjectAltName={name}", "-days", "1", "-nodes"]
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        command = [openssl, "req", "-x509", *curve, *subject, "-keyout", str(file), "-out", str(tmp_path / "c.pem")]
        subprocess.run(command, check=True, capture_output=True)
        file.write_text(file.read_text() + (tmp_path / "c.pem").read_text())
        return file

    return make


def _secured(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, certificate: Certificate
) -> None:
    server = serve(reply(answer()), context=_secured(certificate("IP:127.0.0.1")))
    asked = ask(server)
    assert asked.code == "untrusted-certificate"
    assert "SSL_CERT_FILE" in asked.decision.failure.detail
    assert server.seen == []


def test_a_certificate_of_a_named_authority_is_trusted(
    serve: Serve,
    ask: Ask,
    reply: Reply,
    answer: MakeAnswer,
    certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = certificate("IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert ask(serve(reply(answer()), context=_secured(file))).code is None


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_authorities_that_cannot_be_read_are_told(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(CandidateError, match="SSL_CERT_FILE") as caught:
        ask("https://model.example")
    assert caught.value.code == "invalid-certificates"
    assert caught.value.__suppress_context__


def test_a_certificate_for_another_host_is_refused(
    serve: Serve,
    ask: Ask,
    reply: Reply,
    answer: MakeAnswer,
    certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = certificate("DNS:other.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    server = serve(reply(answer()), context=_secured(file))
    assert ask(server).code == "untrusted-certificate"
    assert server.seen == []


def test_a_server_that_answers_tls_in_plain_text(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as threads:

        def greet() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        greeted = threads.submit(greet)
        asked = ask(f"https://127.0.0.1:{listening.getsockname()[1]}")
        greeted.result()
    assert asked.code == "tls-failed"


def test_a_server_that_says_nothing_to_tls(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        asked = ask(f"https://127.0.0.1:{listening.getsockname()[1]}", deadline_s=0.3)
    assert asked.code == "timeout"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_host_is_asked_through_the_proxy(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    proxy = serve(reply(answer()))
    monkeypatch.setenv(variable, proxy.url.replace("http://", "http://user:pass@"))
    assert ask("http://model.example:8080").code is None
    [seen] = proxy.seen
    assert seen.path == "http://model.example:8080/v1/systemone"
    assert seen.headers["proxy-authorization"].startswith("Basic ")


def test_a_host_is_not_asked_through_a_proxy_that_is_not_for_it(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(reply(answer()))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", ".invalid")
    assert ask("http://model.invalid").code == "connection-failed"
    assert proxy.seen == []


def test_this_machine_is_never_asked_through_a_proxy(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert ask(serve(reply(answer()))).code is None


def test_an_encrypted_endpoint_goes_through_a_tunnel(
    serve: Serve, ask: Ask, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(reply("", 407))
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    monkeypatch.setenv("OWN_KEY", "key-that-nobody-sees")
    assert ask("https://model.example", key_env="OWN_KEY").code == "proxy-failed"
    [seen] = proxy.seen
    assert seen.path == "model.example:443"
    assert "key-that-nobody-sees" not in str(seen)


@pytest.mark.parametrize("proxy", ["socks5://user:pass@127.0.0.1:1", "http://[user:pass", "ftp://user:pass@h"])
def test_a_proxy_that_cannot_be_used(ask: Ask, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(CandidateError, match="invalid-proxy") as caught:
        ask("https://model.example")
    frames = [entry for entry in caught.traceback if "/tests/" not in str(entry.path)]
    assert frames
    assert not any("user:pass" in str(entry.locals) for entry in frames)

"""``--keep-raw``: the texts of replies are kept beside the journal on request, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Asked, Bench, Own, Run, Said, Serve

SECRET = "canary-key/zqxj+x"
MARK = "a-word-of-the-reply"


def kept(run: Run, candidate: str = "systemone") -> list[dict[str, Any]]:
    """The lines of kept replies."""
    return [json.loads(line) for line in (run.folder / candidate / "raw.jsonl").read_text("utf-8").splitlines()]


def marked(said: Said) -> Said:
    """The same with a word of no meaning in the body, and one in a header."""
    status, headers, body = said
    return status, {**headers, "X-Note": f"{MARK}-in-a-header"}, json.dumps({**json.loads(body), "note": MARK})


def files_with(folder: Path, text: str) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes())


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Options of a System One candidate at a URL, with a key."""

    def options(url: str) -> list[str]:
        monkeypatch.setenv("CANARY_KEY", SECRET)
        return ["--candidate", "systemone", "--endpoint", url, "--model", "m-1", "--key-env", "CANARY_KEY"]

    return options


def test_every_reply_is_kept_as_it_came_and_named_as_its_record(
    bench: Bench,
    suite: Path,
    serve: Serve,
    served: Callable[[Asked], Said],
    remote: Callable[..., list[str]],
    mode: list[str],
) -> None:
    server = serve(lambda asked: marked(served(asked)))
    run = bench(suite, *remote(server.url), "--keep-raw", *mode)
    assert run.code == 0
    named = ("case", "trial", "attempt", "request_hash", "candidate_hash")
    lines = kept(run)
    assert [[line[name] for name in named] for line in lines] == [
        [record[name] for name in named] for record in run.records("systemone")
    ]
    assert len(lines) == 24
    for line in lines:
        [reply] = line["replies"]
        assert reply["status"] == 200
        assert json.loads(reply["text"])["note"] == MARK
    assert files_with(run.folder, MARK) == ["raw.jsonl"]
    assert files_with(run.folder, f"{MARK}-in-a-header") == []
    assert MARK not in run.output


def test_without_the_option_no_text_of_a_reply_is_anywhere(
    bench: Bench,
    suite: Path,
    serve: Serve,
    served: Callable[[Asked], Said],
    remote: Callable[..., list[str]],
    mode: list[str],
) -> None:
    run = bench(suite, *remote(serve(lambda asked: marked(served(asked))).url), *mode)
    assert run.code == 0
    assert not (run.folder / "systemone" / "raw.jsonl").exists()
    assert files_with(run.folder, MARK) == []


@pytest.mark.parametrize("split", ["", " ", "\\u002D", "\\/"])
def test_a_key_that_the_server_repeats_is_not_kept(
    bench: Bench, suite: Path, serve: Serve, remote: Callable[..., list[str]], split: str
) -> None:
    told = {
        "": f'{{"detail":"{SECRET} is not allowed"}}',
        " ": f"Bearer {SECRET} {SECRET}",
        "\\u002D": '{"detail":"' + SECRET.replace("-", "\\u002D").replace("k", "\\u006b") + '"}',
        "\\/": '{"detail":"' + SECRET.replace("/", "\\/") + '"}',
    }[split]
    run = bench(suite, *remote(serve(lambda _: (400, {"X-Key": SECRET}, told)).url), "--keep-raw")
    texts = [reply["text"] for line in kept(run) for reply in line["replies"]]
    assert len(texts) == 24
    assert all("***" in text and "zqxj" not in text for text in texts)
    assert files_with(run.folder, "zqxj") == []


def test_only_the_reply_of_the_attempt_that_counts_is_kept(
    bench: Bench, suite: Path, serve: Serve, served: Callable[[Asked], Said], remote: Callable[..., list[str]]
) -> None:
    def every_other(asked: Asked) -> Said:
        busy = len(server.asked) % 2
        return (429, {"retry-after-ms": "1"}, '{"detail":"busy-now-zqxj"}') if busy else marked(served(asked))

    server = serve(every_other)
    run = bench(suite, *remote(server.url), "--keep-raw", "--retries", "1")
    assert [record["earlier"][0]["code"] for record in run.records("systemone")] == ["rate-limited"] * 24
    assert [[reply["status"] for reply in line["replies"]] for line in kept(run)] == [[200]] * 24
    assert files_with(run.folder, "busy-now") == []


def test_a_resumed_run_goes_on_with_the_file(
    bench: Bench, suite: Path, serve: Serve, served: Callable[[Asked], Said], remote: Callable[..., list[str]]
) -> None:
    broken = True
    server = serve(lambda asked: (400, {}, '{"detail":"no"}') if broken else marked(served(asked)))
    options = remote(server.url)
    first = bench(suite, *options, "--keep-raw", "-k", "way-000")
    torn = first.folder / "systemone" / "raw.jsonl"
    torn.write_text(torn.read_text("utf-8") + '{"case":', "utf-8")
    broken = False
    again = bench(suite, *options, "--keep-raw", "--resume", first.folder, "--retry-failed")
    assert again.code == 0
    attempts = [(line["attempt"], line["replies"][0]["status"]) for line in kept(again)]
    assert attempts == [(1, 400)] * 2 + [(2, 200)] * 2 + [(1, 200)] * 22


def test_what_a_file_of_ones_own_hands_out_is_kept_only_on_request(
    bench: Bench, own: Own, suite: Path, serve: Serve, served: Callable[[Asked], Said], pytester: pytest.Pytester
) -> None:
    own(
        """
        from decibench.candidates.adapter import RawReply, Traffic
        answers = {key: even(question) for key, question in request.questions.items()}
        return Answer(answers, traffic=Traffic(raw=["no reply", RawReply(200, "a-word-of-the-reply \\udce9")]))
        """
    )
    tables = f'[candidates.far]\nadapter = "systemone"\nendpoint = "{serve(served).url}"\nmodel = "m"\n'
    (pytester.path / "decibench.toml").write_text(tables + '[candidates.own]\nadapter = "own.py"\n', "utf-8")
    options = ["--candidate", "own", "--candidate", "far"]
    assert files_with(bench(suite, *options).folder, MARK) == []
    run = bench(suite, *options, "--keep-raw", "-n", "2")
    assert len(kept(run, "far")) == 24
    assert {reply["text"] for line in kept(run, "own") for reply in line["replies"]} == {f"{MARK} \\udce9"}

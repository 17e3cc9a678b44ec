"""A key is nowhere in what a run leaves behind, and the texts of replies only where they were asked for."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Asked, Bench, Run, Said, Serve

KEY = "sk-canary-0fUq"
STATE = "canary-of-a-state-7hRw"
REPLY = "canary-of-a-reply-2xVn"
LOUD = ["-vv", "--showlocals", "--full-trace", "--on-miss=fail", "-rA", "--tb=long"]


def echo(asked: Asked, status: int = 200) -> Said:
    """A reply that repeats what it got, key and state, in its head and in its body."""
    key = asked.headers.get("authorization", "none")
    body = json.dumps({"detail": f"{REPLY} {key}", "error": {"message": key, "code": REPLY}, "asked": asked.body})
    return status, {"X-Key": key, "X-Reply": REPLY, "Set-Cookie": f"key={key}"}, body


def spoiled(said: Said, **changes: Any) -> Said:
    """An answer to every question, of which something is wrong, with what may not be told beside it."""
    status, headers, body = said
    content = json.loads(body) | {REPLY: REPLY}
    content["answers"] = {key: answer | changes for key, answer in content["answers"].items()}
    return status, {**headers, "X-Reply": REPLY}, json.dumps(content)


@pytest.fixture
def hostile(served: Callable[[Asked], Said]) -> Callable[[Asked], Said]:
    """Fail in another way each time, and answer wrongly or rightly in between."""
    ways: list[Callable[[Asked], Said]] = [
        served,
        lambda asked: echo(asked, 400),
        lambda asked: echo(asked),
        lambda asked: (200, {}, echo(asked)[2][:-9]),
        lambda asked: (301, {"Location": f"http://127.0.0.1:9/{KEY}"}, KEY),
        lambda asked: (422, {}, json.dumps({"detail": [{"loc": ["body", STATE], "msg": KEY, "input": asked.body}]})),
        lambda asked: (503, {"Content-Type": f"text/html; {KEY}", "Retry-After": KEY}, f"<p>{KEY} {STATE}</p>"),
        lambda asked: (200, {"Content-Type": KEY}, f'{{"model": "{KEY}", "model": NaN}}'),
        lambda asked: spoiled(served(asked), probabilities={KEY: 1.0, REPLY: 0.0}),
        lambda asked: spoiled(served(asked), choice=KEY),
        lambda asked: (200, {}, json.dumps(json.loads(served(asked)[2]) | {"model": KEY})),
        lambda asked: (200, {}, json.dumps(json.loads(served(asked)[2]) | {"model": f"{STATE} {REPLY}"})),
        lambda asked: spoiled(served(asked), type=REPLY),
        lambda asked: spoiled(served(asked), probabilities=KEY, confidence=STATE),
    ]
    number = iter(range(10**6))
    lock = threading.Lock()

    def answer(asked: Asked) -> Said:
        with lock:
            return ways[next(number) % len(ways)](asked)

    return answer


@pytest.fixture
def secret_suite(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Cases whose states hold the canary."""
    splits = ("development", "calibration", "holdout")
    return make_suite([row(f"way-{n:03}", splits[n % 3], state=f"{STATE} {n}") for n in range(24)])


@pytest.fixture
def secretive(bench: Bench, secret_suite: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Run a candidate with the key against a server that answers as told."""

    def make(answer: Callable[[Asked], Said], *options: str | Path) -> Run:
        monkeypatch.setenv("CANARY_KEY", KEY)
        remote = ["--endpoint", serve(answer).url, "--model", "m-1", "--key-env", "CANARY_KEY"]
        return bench(secret_suite, "--candidate", "systemone", *remote, *options)

    return make


def places(run: Run, text: str) -> list[str]:
    """Where ``text`` stands: names of files below the working directory, and the streams."""
    files = [path for path in run.folder.parent.rglob("*") if path.is_file()]
    named = [path.name for path in files if text.encode() in path.read_bytes()]
    return [*named, *(["output"] if text in run.output else [])]


def test_neither_key_nor_replies_are_in_anything_that_a_run_leaves(
    secretive: Callable[..., Run],
    hostile: Callable[[Asked], Said],
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    mode: list[str],
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "step.md"))
    run = secretive(hostile, *mode, *LOUD, "--junitxml", "junit.xml", "--report-format", "csv", "--retries", "1")
    assert run.code == 1
    codes = {d["failure"]["code"] for record in run.records("systemone") for d in record["decisions"] if d["failure"]}
    assert len(codes) >= 6
    assert (pytester.path / "junit.xml").is_file()
    assert places(run, KEY) == []
    assert places(run, REPLY) == []


def test_without_states_no_text_of_a_case_is_in_anything_that_a_run_leaves(
    secretive: Callable[..., Run], hostile: Callable[[Asked], Said], mode: list[str]
) -> None:
    run = secretive(hostile, *mode, "-vv", "-rA", "--junitxml", "junit.xml", "--report-format", "csv", "--no-states")
    assert run.code == 1
    assert places(run, KEY) == []
    assert places(run, STATE) == []


def test_with_kept_replies_the_key_is_hidden_where_the_server_repeats_it(
    secretive: Callable[..., Run], hostile: Callable[[Asked], Said], mode: list[str]
) -> None:
    run = secretive(hostile, *mode, *LOUD, "--keep-raw")
    assert places(run, KEY) == []
    assert places(run, REPLY) == ["raw.jsonl"]


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refusal_that_stops_the_run_tells_nothing_of_the_key(
    secretive: Callable[..., Run], status: int, mode: list[str]
) -> None:
    run = secretive(lambda asked: echo(asked, status), *mode, *LOUD, "--junitxml", "junit.xml")
    assert "STOPPED: systemone cannot go on" in run.output
    assert places(run, KEY) == []
    assert places(run, REPLY) == []


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--key-env", KEY], "must be the NAME of an environment variable in capitals, never the key itself"),
        (["--endpoint", f"https://user:{KEY}@127.0.0.1"], "must not hold a user or password"),
        (["--endpoint", f"https://{KEY}@127.0.0.1"], "must not hold a user or password"),
        (["--endpoint", f"https://127.0.0.1/v1?key={KEY}"], "must be a base URL without ? and #"),
        (["--endpoint", KEY], "must be a URL that begins with https:// or http://"),
        (["--endpoint", f"https://[{KEY}]"], "names no host that can be asked"),
    ],
)
def test_a_key_in_a_wrong_place_is_refused_and_not_repeated(
    bench: Bench, suite: Path, options: list[str], what: str, mode: list[str]
) -> None:
    given = dict(zip(["--endpoint", "--model"], ["https://127.0.0.1:9", "m-1"], strict=True))
    given |= dict(zip(options[::2], options[1::2], strict=True))
    run = bench(suite, "--candidate", "systemone", *(part for pair in given.items() for part in pair), *LOUD, *mode)
    assert run.code == 4
    assert what in run.output
    assert places(run, KEY) == []


@pytest.mark.parametrize(
    "line",
    [
        f'key = "{KEY}"',
        f'api_key = "{KEY}"',
        f'key_env = "{KEY}"',
        f'headers = {{ Authorization = "Bearer {KEY}" }}',
        f'endpoint = "https://:{KEY}@127.0.0.1"',
        f'deadline_s = "{KEY}"',
        f'model = ["{KEY}"]',
        f'key_env = "{KEY}',
    ],
)
def test_a_key_in_a_candidates_file_is_refused_and_not_repeated(
    bench: Bench, suite: Path, pytester: pytest.Pytester, line: str
) -> None:
    lines = {"adapter": 'adapter = "systemone"', "endpoint": 'endpoint = "https://127.0.0.1:9"', "model": 'model = "m"'}
    lines[line.split()[0]] = line
    file = pytester.path / "decibench.toml"
    file.write_text("\n".join(["[candidates.far]", *lines.values()]) + "\n", "utf-8")
    for named in ("far", "uniform"):
        run = bench(suite, "--candidate", named, *LOUD)
        assert run.code == 4
        assert str(file) in run.output
        assert KEY not in run.output


def test_the_processes_of_a_run_name_the_variable_and_never_the_key(
    bench_argv: Callable[..., list[str]], suite: Path, serve: Serve, served: Callable[[Asked], Said], tmp_path: Path
) -> None:
    listed: list[str] = []

    def answer(asked: Asked) -> Said:
        listed.append(subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout)
        return served(asked)

    options = ["--candidate", "systemone", "--endpoint", serve(answer).url, "--model", "m-1", "--key-env", "CANARY_KEY"]
    argv = bench_argv(suite, *options, "-n", "2", "-k", "way-000", "--run-dir", tmp_path / "run")
    subprocess.run(argv, env={**os.environ, "CANARY_KEY": KEY}, cwd=tmp_path, check=True, capture_output=True)
    assert listed
    assert all("CANARY_KEY" in processes and KEY not in processes for processes in listed)

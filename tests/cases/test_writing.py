"""Files are written whole or not at all, and through whatever a path stands for."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from decibench.cases.writing import replacing, write_text


def test_what_fails_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("before", "utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "half \ud800")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(path)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text("utf-8") == "before"
    write_text(path, "after")
    assert path.read_text("utf-8") == "after"


def _interrupted(path: Path) -> None:
    with replacing(path) as place:
        place.write_text("half", "utf-8")
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["absent/page.html", "folder", "", "a" * 300])
def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"directory|too long") as raised:
        write_text(Path(name), "text")
    assert raised.value.filename == str(Path(name))
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.html"
    link.symlink_to(tmp_path / "there" / "page.html")
    write_text(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "there" / "page.html").read_text("utf-8") == "text"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")), daemon=True)
    reader.start()
    write_text(pipe, "text")
    reader.join(timeout=10)
    assert read == ["text"]
    assert pipe.is_fifo()

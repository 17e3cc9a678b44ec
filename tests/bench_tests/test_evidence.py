"""The page of evidence, as ``scripts/evidence.py`` writes it from recordings and from a run."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench

ROOT = Path(__file__).parents[2]
CANDIDATES = ("baseline", "laya", "strands")


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The script, which is in no package."""
    spec = importlib.util.spec_from_file_location("evidence_page", ROOT / "scripts" / "evidence.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up.
    sys.modules["evidence_page"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["evidence_page"]


@pytest.fixture
def recordings(shared: Path) -> Path:
    return shared / "data" / "recordings"


@pytest.fixture(scope="module")
def written(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Write the page of the recordings, once, and return where."""

    def write(recordings: Path) -> Path:
        folder: Path = tmp_path_factory.mktemp("written")
        page_of(script, recordings, folder)
        return folder

    return cache(write)


@pytest.fixture(scope="module")
def report(script: ModuleType) -> Callable[[Path, str], Any]:
    """The report of one recorded candidate; recordings are read once."""
    read = cache(script.read_evidence)
    return lambda recordings, name: {r.candidate.name: r for r in read(recordings).reports}[name]


@pytest.fixture
def own_recordings(tmp_path: Path) -> Path:
    """Recordings of two candidates on two scenarios per split; ``sure`` is always right, ``unsure`` in half."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name, wrong in (("sure", ()), ("unsure", ("way-02", "way-04"))):
        for split, numbers in (("calibration", (1, 2)), ("holdout", (3, 4))):
            groups = [f"way-{number:02}" for number in numbers]
            rows = [
                _row(f"{group}-{variant}", "right" if group in wrong else "left")
                for group in groups
                for variant in ("original", "options_reversed", "injection")
            ]
            _write(folder / f"{name}-{split}.json", name, split, rows)
    return folder


def _row(case: str, choice: str) -> list[Any]:
    options = ["right", "left"] if "reversed" in case else ["left", "right"]
    return [case, "way", "left", choice, {option: 0.9 if option == choice else 0.1 for option in options}]


def _write(path: Path, name: str, split: str, rows: list[Any]) -> None:
    path.write_text(
        json.dumps(
            {
                "source": {
                    "repository": "some/where",
                    "commit": "0123456789",
                    "recorded": "2026-01-02",
                    "dataset_version": "ways-v3",
                },
                "candidate": {"name": name, "model": f"{name}-1", "device": "cpu"},
                "split": split,
                "row_fields": ["case_id", "question_id", "expected", "choice", "probabilities"],
                "rows": rows,
                "threshold": 0.5,
                "metrics": {"decisions": len(rows), "accuracy": sum(row[3] == "left" for row in rows) / len(rows)},
            }
        ),
        "utf-8",
    )


def edit(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | fields), "utf-8")


def page_of(script: ModuleType, source: Path, folder: Path, *options: str) -> str:
    """The page that the script writes."""
    assert script.main([str(source), "--out", str(folder / "evidence.md"), *options]) == 0
    return (folder / "evidence.md").read_text("utf-8")


def test_the_published_page_is_what_the_script_writes(written: Callable[[Path], Path], recordings: Path) -> None:
    assert (written(recordings) / "evidence.md").read_text("utf-8") == (ROOT / "docs" / "evidence.md").read_text(
        "utf-8"
    ), "docs/evidence.md is not what scripts/evidence.py writes: run it again and read the difference"


def marks(drawing: str) -> list[str]:
    """What every mark of a candidate says it stands for."""
    return re.findall(r'aria-label="([^"]*candidate: [^"]*)"', drawing)


def test_the_published_figures_are_those_of_the_page(written: Callable[[Path], Path], recordings: Path) -> None:
    page = (ROOT / "docs" / "evidence.md").read_text("utf-8")
    places = re.findall(r"!\[.+\]\((.+)\)", page)
    assert {path.name for path in (ROOT / "docs" / "evidence").iterdir()} == {Path(place).name for place in places}
    assert len(places) == 3
    for place in places:
        drawings = [(folder / place).read_text("utf-8") for folder in (ROOT / "docs", written(recordings))]
        for drawing in drawings:
            # A ground of its own and paints that need no page: it is readable on a light and on a dark one.
            (ground,) = (element for element in ET.fromstring(drawing) if element.tag.endswith("rect"))
            assert ground.attrib["fill"] == "#ffffff"
            assert "var(" not in drawing
            assert "currentColor" not in drawing
            assert all(name in drawing for name in CANDIDATES)
        published, now = map(marks, drawings)
        assert published == now
        assert len(now) > 5


def test_a_figure_draws_what_the_tables_say(script: ModuleType, own_recordings: Path, tmp_path: Path) -> None:
    page = page_of(script, own_recordings, tmp_path, "--reference", "sure")
    assert "| accuracy | unsure | 50.0% | 100.0% | -50.0 |" in page
    drawn = (tmp_path / "evidence" / "differences.svg").read_text("utf-8")
    assert re.search(r"quantity: accuracy; [^\"]*candidate: unsure;[^\"]*-50\.0 points", drawn)


@pytest.mark.parametrize("name", CANDIDATES)
def test_the_reports_hold_every_recorded_row(report: Callable[[Path, str], Any], recordings: Path, name: str) -> None:
    found = report(recordings, name)
    rows = [
        (split, *row[:4], list(row[4]))
        for split in ("calibration", "holdout")
        for row in json.loads((recordings / f"{name}-{split}.json").read_text("utf-8"))["rows"]
    ]
    held = [
        (record.split, record.case, d.question, d.expected, d.choice, list(d.probabilities or ()))
        for record in found.records
        for d in record.decisions
    ]
    assert held == rows
    assert {split: len({r.group for r in found.records if r.split == split}) for split in found.metrics} == {
        "calibration": 6,
        "holdout": 12,
    }


@pytest.mark.parametrize("split", ["calibration", "holdout"])
@pytest.mark.parametrize("name", ["baseline", "laya"])
def test_core_and_attack_together_give_the_recorded_metrics(
    report: Callable[[Path, str], Any], recordings: Path, name: str, split: str
) -> None:
    stated = json.loads((recordings / f"{name}-{split}.json").read_text("utf-8"))["metrics"]
    metrics = report(recordings, name).metrics[split]
    core, attack = metrics.overall, metrics.attack
    for theirs, ours in (("accuracy", "accuracy"), ("brier_multiclass", "brier_score"), ("nll", "log_loss")):
        total = sum(m.decisions * getattr(m, ours) for m in (core, attack)) / (core.decisions + attack.decisions)
        assert total == pytest.approx(stated[theirs], abs=1e-9), ours


@pytest.mark.parametrize("name", CANDIDATES)
def test_the_headline_follows_from_the_rows(written: Callable[[Path], Path], recordings: Path, name: str) -> None:
    right = defaultdict(list)
    for row in json.loads((recordings / f"{name}-holdout.json").read_text("utf-8"))["rows"]:
        if not row[0].endswith("-injection"):
            right[row[0].split("-")[0]].append(row[2] == row[3])
    macro = math.fsum(sum(of) / len(of) for of in right.values()) / len(right)
    headline = f"{name} on enterprise-decisions-synthetic v1, holdout: macro accuracy {macro:.1%} over 3 families"
    assert headline in (written(recordings) / "evidence.md").read_text("utf-8")


def test_twelve_scenarios_conclude_nothing(written: Callable[[Path], Path], recordings: Path) -> None:
    page = (written(recordings) / "evidence.md").read_text("utf-8")
    assert page.count("No difference in macro_accuracy") == 2
    assert "No order of the candidates is supported" in page
    assert page.count("Certified gate (one_per_group_cp, not the one that decides): null") == 3
    assert "a third party's diagnostic" in page
    assert "holdout has 12 scenarios with 4 variants each" in page
    assert "(`mps` is an Apple GPU)" in page


def test_the_page_says_what_the_rows_are(script: ModuleType, own_recordings: Path, tmp_path: Path) -> None:
    page = page_of(script, own_recordings, tmp_path, "--reference", "sure")
    assert "6 rows of 2 scenarios on calibration (4 core, 2 attack), and 6 rows of 2 scenarios on holdout" in page
    assert "core variants are original and options-reversed; injection is an attack" in page
    assert "sure on cpu and unsure on cpu" in page
    assert "on 2026-01-02. The reference is sure." in page
    assert "sure: the recording states metrics of its own" in page
    assert "trials" not in page.partition("## Who answered")[0]
    for name in ("sure", "unsure"):
        edit(
            own_recordings / f"{name}-holdout.json", metrics={"decisions": 18, "accuracy": 1.0 - 0.5 * (name != "sure")}
        )
    assert (
        page_of(script, own_recordings, tmp_path).count("of the holdout are over 3 trials, of which the rows are one")
        == 2
    )


def test_recordings_without_an_attack_are_shown(script: ModuleType, own_recordings: Path, tmp_path: Path) -> None:
    for path in own_recordings.iterdir():
        rows = json.loads(path.read_text("utf-8"))["rows"]
        edit(path, rows=[row for row in rows if "injection" not in row[0]])
    page = page_of(script, own_recordings, tmp_path)
    assert "4 rows of 2 scenarios on calibration (4 core, 0 attack)" in page
    assert "The core variants are original and options-reversed. Headline" in page


def test_what_a_recording_says_is_no_markup(script: ModuleType, own_recordings: Path, tmp_path: Path) -> None:
    for split in ("calibration", "holdout"):
        edit(own_recordings / f"sure-{split}.json", candidate={"model": "<b>bold</b>", "note": "[x](http://y)"})
    page = page_of(script, own_recordings, tmp_path)
    assert "model &lt;b>bold&lt;/b>" in page
    assert "<b>" not in page
    assert "[x](http" not in page


def test_a_figure_that_does_not_follow_from_the_rows_is_refused(
    script: ModuleType, own_recordings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(own_recordings / "sure-holdout.json", metrics={"decisions": 6, "accuracy": 0.5})
    assert script.main([str(own_recordings), "--out", str(tmp_path / "evidence.md")]) == 4
    error = capsys.readouterr().err
    assert "sure-holdout.json, field metrics.accuracy: says 0.5, its rows give 1.0" in error
    assert not (tmp_path / "evidence.md").exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"candidate": {"name": "sure", "model": "2"}}, "another candidate", id="another-model"),
        pytest.param({"rows": [_row("way-original", "left")], "metrics": {}}, "routing-03-options_reversed", id="id"),
        pytest.param({"split": "calibration"}, "splits calibration and calibration", id="split"),
        pytest.param({"source": {"repository": "x"}}, "source.commit", id="no-source"),
    ],
)
def test_a_recording_that_cannot_be_read_is_refused(
    script: ModuleType,
    own_recordings: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fields: dict[str, Any],
    message: str,
) -> None:
    edit(own_recordings / "sure-holdout.json", **fields)
    assert script.main([str(own_recordings), "--out", str(tmp_path / "evidence.md")]) == 4
    assert message in capsys.readouterr().err


def test_candidates_that_were_asked_other_cases_are_not_compared(
    script: ModuleType, own_recordings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = own_recordings / "unsure-holdout.json"
    rows = json.loads(path.read_text("utf-8"))["rows"]
    edit(path, rows=rows[:-1], metrics={})
    assert script.main([str(own_recordings), "--out", str(tmp_path / "evidence.md")]) == 4
    assert "suite.hash" in capsys.readouterr().err


def test_a_folder_without_recordings_or_reports_is_refused(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([str(tmp_path / "nowhere"), "--out", str(tmp_path / "evidence.md")]) == 4
    assert "is no folder" in capsys.readouterr().err
    assert script.main([str(tmp_path), "--out", str(tmp_path / "evidence.md")]) == 4
    assert str(tmp_path) in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_made(script: ModuleType, own_recordings: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "docs" / "evidence.md"
    assert script.main([str(own_recordings), "--out", str(out)]) == 0
    assert out.read_text("utf-8").startswith("# Evidence")
    assert list((out.parent / "evidence").glob("*.svg"))


def test_a_run_gives_the_same_page(script: ModuleType, bench: Bench, suite: Path, tmp_path: Path) -> None:
    run = bench(suite, "--candidate", "uniform", "--candidate", "baseline", "--candidate", "first-option")
    page = page_of(script, run.folder, tmp_path, "--reference", "uniform")
    assert page.startswith("# Evidence: uniform, baseline and first-option on tiny 1\n")
    assert "uniform on cpu, baseline on cpu and first-option on cpu" in page
    compared = (run.folder / "comparison.md").read_text("utf-8").splitlines()
    summed = (run.folder / "baseline" / "summary.md").read_text("utf-8").partition("## Most confident errors")[0]
    rows = [line for line in [*compared, *summed.splitlines()] if line.startswith(("| ", "- No "))]
    assert [line for line in rows if line not in page] == []
    assert len(rows) > 40
    assert "The reference is uniform." in page
    assert "The reference is baseline." in page_of(script, run.folder, tmp_path)

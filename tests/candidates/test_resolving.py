"""From names and a candidates file to candidates: each mistake is one sentence with its remedy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from decibench.candidates.config import resolve_candidates
from decibench.candidates.registry import REGISTRY
from decibench.cases.door import UsageError

Write = Callable[..., Path]
OWN = "def create_candidate(device):\n    ...\n"
SHIPPED = ("baseline", "uniform", "first-option", "majority", "sparrow")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's own folder."""

    def make(name: str, text: str = OWN) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return make


def refusal(*names: str, file: Path | None = None, device: str | None = None, label: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        resolve_candidates(names, file=file, device=device, label=label)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def names(*wanted: str, file: Path | None = None, device: str | None = None, label: str | None = None) -> list[str]:
    return [spec.name for spec in resolve_candidates(wanted, file=file, device=device, label=label)]


def test_without_a_name_the_baseline_runs_and_names_keep_their_order() -> None:
    assert names() == ["baseline"]
    assert names("uniform", "sparrow", "baseline") == ["uniform", "sparrow", "baseline"]


def test_the_shipped_candidates_are_these() -> None:
    assert set(SHIPPED) <= set(REGISTRY)


def test_an_unknown_name_lists_the_valid_ones(write: Write) -> None:
    file = write("decibench.toml", '[candidates.mine]\nadapter = "uniform"\n')
    for given, known in ((None, SHIPPED), (file, ("mine", *SHIPPED))):
        sentence = refusal("bert", file=given)
        assert sentence.startswith("--candidate bert: unknown candidate 'bert'; use ")
        assert all(name in sentence for name in known)
        assert "a path to a .py file" in sentence
        assert ("a name in a candidates file (there is no decibench.toml here)" in sentence) is (given is None)


def test_an_unknown_adapter_lists_adapters_and_no_tables(write: Write) -> None:
    text = '[candidates.one]\nadapter = "two"\n[candidates.two]\nadapter = "uniform"\n'
    file = write("decibench.toml", text)
    sentence = refusal("one", file=file)
    assert sentence.startswith(f"{file}, field candidates.one: unknown adapter 'two'; use ")
    assert all(name in sentence for name in SHIPPED)
    assert "one" not in sentence.split("; use ")[1].split(", ")


@pytest.mark.parametrize("name", ["absent.py", "folder/absent.py", "./absent"])
def test_a_missing_file_is_named(name: str) -> None:
    sentence = refusal(name)
    assert sentence.startswith(f"--candidate {name}: ")
    assert "cannot be read (No such file or directory); check the path" in sentence


def test_a_syntax_error_is_told_with_file_and_line(write: Write) -> None:
    path = write("broken.py", "import os\n\ndef create_candidate(device)\n    pass\n")
    sentence = refusal(str(path))
    assert f"{path} is not valid Python" in sentence
    assert "broken.py, line 3" in sentence
    assert sentence.endswith("; correct it")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def create(device): ...\n",
        "class Model:\n    def create_candidate(self, device): ...\n",
        "def outer():\n    def create_candidate(device): ...\n",
        "# create_candidate\nNAME = 'create_candidate'\n",
    ],
)
def test_a_file_without_the_factory_is_told_what_to_add(write: Write, text: str) -> None:
    path = write("mine.py", text)
    sentence = refusal(str(path))
    assert f"{path} defines no create_candidate(device); add one that returns your candidate" in sentence


@pytest.mark.parametrize(
    "text",
    [
        OWN,
        "from elsewhere import create_candidate\n",
        "from elsewhere import make as create_candidate\n",
        "create_candidate = lambda device: None\n",
        "create_candidate: object = print\n",
        "try:\n    import torch\nexcept ImportError:\n    def create_candidate(device): ...\n",
        "class create_candidate:\n    def __init__(self, device): ...\n",
        "\ufeff" + OWN,
    ],
)
def test_any_way_to_bind_the_factory_in_the_module_counts(write: Write, text: str) -> None:
    assert names(str(write("mine.py", text))) == ["mine"]


def test_resolving_runs_nothing_of_a_candidate_file(write: Write, tmp_path: Path) -> None:
    text = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\nraise SystemExit(3)\n" + OWN
    assert names(str(write("mine.py", text))) == ["mine"]
    assert not (tmp_path / "ran").exists()


def test_resolving_imports_no_model(tmp_path: Path) -> None:
    code = (
        "import sys; from decibench.candidates.config import resolve_candidates; "
        f"resolve_candidates({SHIPPED!r}, file=None, device=None); "
        "sys.exit(bool({'numpy', 'sparrow_decider', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path).returncode == 0


def test_a_candidate_whose_package_is_not_installed_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sparrow_decider", None)
    sentence = refusal("sparrow")
    assert "needs the package sparrow-decider: pip install 'decibench[sparrow]'" in sentence
    assert names("baseline") == ["baseline"]


@pytest.mark.parametrize(
    ("stem", "name"),
    [("my_model", "my-model"), ("Model.V2", "model-v2"), ("__x__", "x"), ("a--b", "a-b"), ("größe", "gr-e")],
)
def test_a_file_is_named_by_its_stem_in_letters_that_k_can_select(write: Write, stem: str, name: str) -> None:
    assert names(str(write(f"{stem}.py"))) == [name]


def test_a_stem_without_a_usable_letter_asks_for_a_label(write: Write) -> None:
    path = str(write("模型.py"))
    sentence = refusal(path)
    assert path in sentence
    assert "add --model-label NAME" in sentence
    assert names(path, label="mine") == ["mine"]


def test_a_label_names_the_one_candidate(write: Write) -> None:
    assert names(str(write("mine.py")), label="team-v2") == ["team-v2"]
    assert names(label="floor") == ["floor"]


def test_a_label_for_two_candidates_is_refused() -> None:
    assert refusal("baseline", "uniform", label="mine") == (
        "--model-label names one candidate; give exactly one --candidate"
    )


@pytest.mark.parametrize("label", ["", "My Model", "a_b", "a--b", "-a", "ü", "a/b", "a\n"])
def test_a_label_that_k_could_not_select_is_refused(label: str) -> None:
    with pytest.raises(UsageError, match=r"--model-label (?s:.*): use lower-case letters, digits and single hyphens"):
        resolve_candidates(["baseline"], file=None, device=None, label=label)


def test_one_name_for_two_candidates_is_refused(write: Write) -> None:
    assert "baseline stands for two candidates; give each a name of its own" in refusal("baseline", "baseline")
    one, other = write("a/mine.py"), write("b/mine.py")
    assert "mine stands for two candidates" in refusal(str(one), str(other))


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CPU", "cpu0"])
def test_an_unknown_device_is_refused(write: Write, device: str) -> None:
    assert refusal("baseline", device=device) == (f"--device {device}: unknown device; use cpu, cuda, cuda:N or mps")


def test_a_device_that_no_candidate_can_use_is_refused() -> None:
    assert refusal("baseline", "sparrow", device="cuda") == (
        "--device cuda: baseline, sparrow can only run on cpu; leave it out"
    )


def test_a_device_goes_to_the_candidates_that_can_use_it(write: Write) -> None:
    mine = str(write("mine.py"))
    for device in ("cuda", "cuda:1", "mps"):
        specs = resolve_candidates([mine, "baseline"], file=None, device=device)
        assert [spec.device for spec in specs] == [device, "cpu"]
    assert [spec.device for spec in resolve_candidates([mine], file=None, device=None)] == ["cpu"]

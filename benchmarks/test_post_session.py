"""The pass after a session of 100,000 decisions: from the journal to gates, report, summary and page.

Run by ``pytest benchmarks``. Budget: 20 s of the processor, and 1.5 GB of resident memory above what the session held
before. The time that passes says less on a busy machine.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from decibench.bench_tests.finish import Finished, finish
from decibench.bench_tests.options import read_options
from decibench.bench_tests.plan import Plan
from decibench.bench_tests.recorder import Recorder
from decibench.candidates.config import resolve_candidates
from decibench.cases.door import Exit
from decibench.cases.freezing import freeze
from decibench.cases.jsonio import canonical_json
from decibench.cases.loading import load_suite
from decibench.cases.schema import SPLITS, Case, Choice, Question, Reference
from decibench.cases.variants import VARIANTS
from decibench.reports.journal import Header, JournalWriter
from decibench.reports.pages.page import PAGE
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, open_decisions, record_of

MOST_GB = 1.5
MOST_CPU_S = 20
CASES = 20_000
QUESTIONS = 5
OPTIONS = ("north", "south", "east", "west")


@pytest.fixture(scope="module")
def plan(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A suite of 100,000 decisions in 1,540 scenarios, every variant of each."""
    home = tmp_path_factory.mktemp("post-session")
    folder = home / "large"
    folder.mkdir()
    with (folder / "cases.jsonl").open("w") as file:
        for case in _cases():
            file.write(canonical_json(case.model_dump(exclude_none=True)) + "\n")
    freeze(folder, "large", "1", "MIT-0", {})
    options = replace(read_options(request.config), home=home, resume=home / "run")
    specs = resolve_candidates(["uniform"], file=None, device=None)
    return Plan(options, load_suite(folder), specs, {}, DEFAULT_PROTOCOL, None)


def test_post_session(plan: Plan, benchmark: BenchmarkFixture) -> None:
    """Read, measure, fit, write: one round, as a run does it."""
    run_dir = plan.options.home / "run"
    _journal(plan, run_dir)
    recorder = Recorder(plan, run_dir, collected={item.id for item in plan.items})
    before, began = _resident(), time.process_time()
    once: Callable[..., Finished] = benchmark.pedantic
    finished = once(lambda: finish(plan, recorder, chosen_stop=False), rounds=1, iterations=1, warmup_rounds=0)
    used = {"more_memory_gb": round(_resident() - before, 2), "cpu_s": round(time.process_time() - began, 1)}
    benchmark.extra_info.update(used)
    assert used["more_memory_gb"] < MOST_GB, used
    assert used["cpu_s"] < MOST_CPU_S, used
    assert finished.exit is Exit.COMPLETE, finished.errors
    assert (run_dir / "uniform" / PAGE).stat().st_size
    assert sum(m.overall.decisions for m in finished.reports[0].metrics.values()) > 0


def _resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _cases() -> Iterator[Case]:
    names = list(VARIANTS)
    for number in range(CASES):
        scenario, variant = divmod(number, len(names))
        family = f"family-{scenario % 7}"
        group = f"{family}-case-{scenario:04}"
        questions: dict[str, Question] = {
            f"question-{q}": Choice(type="choice", instructions="Where to?", criteria=dict.fromkeys(OPTIONS))
            for q in range(QUESTIONS)
        }
        yield Case(
            id=f"{group}-{names[variant]}",
            group=group,
            family=family,
            variant=names[variant],
            split=SPLITS[scenario % 3],
            state=f"Case {number}.",
            questions=questions,
            references={
                key: Reference(expected=OPTIONS[(scenario + i) % 4], unsafe=[OPTIONS[(scenario + i + 1) % 4]])
                for i, key in enumerate(questions)
            },
        )


def _journal(plan: Plan, run_dir: Path) -> None:
    rng = random.Random(1)
    header = Header(run="run", candidate="uniform", suite=plan.suite_ref, protocol=plan.protocol)
    writer = JournalWriter(run_dir / "uniform" / "journal.jsonl", header)
    load = {"worker": "main", "load_s": 0.0, "first_probe_s": None, "warm_ups_s": []}
    writer.load({"identity": {"model": "synthetic"}, "candidate_hash": "c", **load})
    for case in plan.cases:
        decisions = [_answered(fields, rng) for fields in open_decisions(case)]
        role = plan.suite.role(case)
        record = record_of(
            case, role, trial=1, request_hash="r", candidate_hash="c", decisions=decisions, latency_s=rng.random()
        )
        writer.record(record.model_dump_json())
    writer.close()


def _answered(fields: dict[str, object], rng: random.Random) -> Decision:
    weights = [rng.expovariate(1) + (4.0 if option == fields["expected"] else 0.0) for option in OPTIONS]
    shares = {option: weight / sum(weights) for option, weight in zip(OPTIONS, weights, strict=True)}
    return Decision.model_validate(
        {**fields, "choice": max(shares, key=shares.__getitem__), "probabilities": shares, "raw_sum": 1.0}
    )

"""Calibration as tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from decibench.cases.schema import Split
from decibench.reports.calibration import Calibration, Scaled
from decibench.reports.figure import Figure
from decibench.reports.tables.layout import Table, number, share

_Row = tuple[str, Callable[[Calibration], str]]

_SCALED: Final[Sequence[tuple[str, Callable[[Scaled], str]]]] = (
    ("log_loss", lambda s: number(s.log_loss)),
    ("brier_score", lambda s: number(s.brier_score)),
    ("ece_10", lambda s: number(s.ece_10.value)),
    ("ece_10, 95th percentile if calibrated", lambda s: number(s.ece_10.null_p95)),
    ("mean_top_probability", lambda s: number(s.mean_top_probability)),
    ("coverage", lambda s: share(s.coverage)),
)


def calibration_tables(calibration: Mapping[Split, Calibration]) -> Iterator[Table]:
    """Scores and errors by split, then reliability and temperature scaling of the last split."""
    if not calibration:
        return
    columns = list(calibration.values())
    rows = [[name, *(form(c) for c in columns)] for name, form in _rows(columns)]
    title = "Calibration (core; null: mean and 95th percentile of the error of a perfectly calibrated model)"
    yield Table(title, ["metric", *calibration], rows)
    split, last = list(calibration.items())[-1]
    yield _reliability(split, last)
    if last.temperature is not None:
        check = last.temperature
        rows = [[name, form(check.raw), form(check.fitted)] for name, form in _SCALED]
        limit = ", the limit of the search" if check.at_limit else ""
        title = f"Temperature scaling, a diagnostic (fitted on {check.fitted_on} calibration decisions{limit})"
        yield Table(title, [f"{split}, core", "raw", f"temperature {check.temperature:g}"], rows)


def calibration_notes(calibration: Mapping[Split, Calibration]) -> Iterator[str]:
    """What a reader must know to read the calibration tables right."""
    for split, c in calibration.items():
        yield f"ece_10 on {split}: {c.conclusion} ({c.valid} decisions in {c.groups} scenarios)."
    for split, c in calibration.items():
        if c.no_prior is not None:
            yield f"No skill on {split}: {c.no_prior}."
        else:
            yield f"Skill on {split} is against class priors frozen on {c.prior_split}."
    floors = {entry.floor for c in calibration.values() for entry in c.log_loss_by_floor if entry.rounding}
    for floor in floors:
        yield (
            f"The candidate declares probabilities rounded to steps of {2 * floor:g}: of the floors of the log loss "
            f"{floor:g}, half a step, is the one that this rounding makes sensible."
        )
    checks = [c.temperature for c in calibration.values() if c.temperature is not None]
    if checks:
        yield (
            "Temperature scaling leaves every choice as it was, and the order of confidences among two-option "
            "questions. It moves what a fixed gate accepts: sharpening alone raises coverage, and no model got better."
        )


def _rows(columns: Sequence[Calibration]) -> Iterator[_Row]:
    yield "valid / decisions (groups)", lambda c: f"{c.valid} / {c.decisions} ({c.groups})"
    yield "brier_score", lambda c: _figure(c.brier_score)
    yield "brier_skill", lambda c: _figure(c.brier_skill)
    yield "log_loss", lambda c: _figure(c.log_loss)
    for entry in columns[0].log_loss_by_floor:
        floor = entry.floor
        same = all(math.isclose(_at_floor(floor, c), c.log_loss.value or 0.0, abs_tol=1e-9) for c in columns)
        if entry.rounding or not same:
            yield f"log_loss at floor {floor:g}{' (rounding)' if entry.rounding else ''}", partial(_floored, floor)
    yield "log_loss_skill", lambda c: _figure(c.log_loss_skill)
    yield "corp miscalibration", lambda c: number(c.corp.miscalibration)
    yield "corp discrimination", lambda c: number(c.corp.discrimination)
    yield "corp uncertainty", lambda c: number(c.corp.uncertainty)
    for name in columns[0].errors:
        yield name, partial(_error, name)
    yield "residual_correlation", lambda c: f"{c.residual_correlation:.2f}"
    yield "zero_anywhere", lambda c: share(c.extremes.zero_anywhere)
    yield "zero_on_reference", lambda c: share(c.extremes.zero_on_reference)
    yield "top_one (accuracy)", lambda c: f"{share(c.extremes.top_one)} ({share(c.extremes.accuracy_top_one)})"
    if any(c.sums.decisions for c in columns):
        yield "sum_error, largest", lambda c: "-" if c.sums.largest is None else f"{c.sums.largest:.2g}"
        yield "sum_error above 1e-06", lambda c: share(c.sums.beyond)


def _figure(figure: Figure) -> str:
    if figure.value is None or figure.interval is None:
        return number(figure.value)
    return f"{figure.value:.4f} [{figure.interval.low:.3f}, {figure.interval.high:.3f}]"


def _at_floor(floor: float, calibration: Calibration) -> float:
    return next(entry.log_loss for entry in calibration.log_loss_by_floor if entry.floor == floor)


def _floored(floor: float, calibration: Calibration) -> str:
    return number(_at_floor(floor, calibration))


def _error(name: str, calibration: Calibration) -> str:
    """The error and what a calibrated model shows here: mean and 95th percentile."""
    error = calibration.errors[name]
    if error.value is None:
        return "-"
    return f"{error.value:.4f} (null {error.null_mean:.3f}, 95% {error.null_p95:.3f})"


def _reliability(split: Split, calibration: Calibration) -> Table:
    rows = []
    for entry in calibration.reliability:
        if entry.decisions:
            band = entry.accuracy.interval
            top = "1" if entry.high == 1 else f"<{entry.high:g}"
            rows.append(
                [f"{entry.low:g} to {top}", str(entry.decisions), str(entry.accuracy.groups),
                 number(entry.mean_top_probability), share(entry.accuracy.value),
                 "-" if band is None else f"{share(band.low)} to {share(band.high)}"]
            )  # fmt: skip
    columns = ["top probability", "decisions", "scenarios", "mean", "accuracy", "95% interval"]
    return Table(f"Reliability ({split}, core)", columns, rows)

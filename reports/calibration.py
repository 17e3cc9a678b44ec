"""Calibration: how far the stated probabilities can be believed, beside what a calibrated model would show here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.distributions import Distributions, Entries, distributions_of
from decibench.reports.figure import Figure, figure_of
from decibench.reports.metrics.brier_score import brier_score
from decibench.reports.metrics.calibration_null import NullLevel, Statistic, null_levels, residual_correlation
from decibench.reports.metrics.class_priors import class_prior, label_counts
from decibench.reports.metrics.corp import Corp, corp
from decibench.reports.metrics.debiased_calibration_error import debiased_calibration_errors
from decibench.reports.metrics.expected_calibration_error import expected_calibration_errors
from decibench.reports.metrics.log_loss import log_loss
from decibench.reports.metrics.mean import mean
from decibench.reports.metrics.reliability import ReliabilityBin, reliability
from decibench.reports.metrics.skill_score import skill_score
from decibench.reports.metrics.smooth_calibration_error import smooth_calibration_errors
from decibench.reports.metrics.temperature import LIMITS, fit_temperature, relative_logs
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Record
from decibench.reports.resampling import GroupBootstrap
from decibench.reports.summary import Share

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats

FLOORS: Final = (1e-15, 1e-6, 1e-3, 0.005)
"""Least probabilities tried in the log loss, beside half a step of the rounding that a model declares."""

_MOST_DECIMALS: Final = 15
"""Rounding beyond it is lost in a float."""

NO_EVIDENCE: Final = "no evidence of miscalibration at this n"
EVIDENCE: Final = "evidence of miscalibration: above the 95th percentile"
NO_PRIOR_SPLIT: Final = "neither development nor calibration was measured, from which class priors are frozen"
OWN_PRIOR: Final = "the only class priors would be those of this split itself"
NOT_HOLDOUT: Final = "temperature scaling is shown on holdout only"
NOTHING_TO_FIT: Final = "calibration holds no valid core decision of trial 1 to fit a temperature on"

Error = Annotated[float, Field(ge=0)]

_ERRORS: Final[Mapping[str, Statistic]] = {
    "ece_10": expected_calibration_errors,
    "debiased_l2_15": debiased_calibration_errors,
    "smooth_ece": smooth_calibration_errors,
}
_FEWER: Final = 5
_OFF: Final = 1e-6
"""A sum that is off 1 by no more may owe it to the arithmetic of floats."""
_SAME: Final = 1e-12
"""Equal errors summed in another order."""


class CalibrationError(Model):
    """A calibration error beside its null level.

    ``null_mean`` and ``null_p95`` are mean and 95th percentile for a perfectly calibrated model with these top
    probabilities and this clustering. All are null where the error is not defined.
    """

    value: Error | None
    null_mean: Error | None
    null_p95: Error | None


class FloorLoss(Model):
    """Log loss with probabilities raised to ``floor``.

    ``rounding`` tells that the floor is half a step of the declared rounding, all that a stated 0 says of a
    probability: the floor that the rounding makes sensible.
    """

    floor: float
    log_loss: float
    rounding: bool


class Extremes(Model):
    """Probabilities of exactly 0 and 1, which rounding makes, as shares of valid decisions.

    ``zero_anywhere``: any option has 0; ``zero_on_reference``: the expected option has it; ``top_one``: the top
    probability is 1. ``accuracy_top_one`` is the accuracy of the last, null where there are none.
    """

    zero_anywhere: Share
    zero_on_reference: Share
    top_one: Share
    accuracy_top_one: Share | None


class Sums(Model):
    """How far the probabilities of an answer are off a sum of 1 as they were stated, before they are normalised.

    ``decisions`` are those of which it is known. ``largest`` is the largest |sum - 1| among them, ``beyond`` the share
    that is off by more than 1e-6; both null where it is known of none.
    """

    decisions: int
    largest: Error | None
    beyond: Share | None


class Scaled(Model):
    """Figures of the valid decisions at one temperature; ``coverage`` is of all attempted ones, null without a gate."""

    log_loss: float
    brier_score: float
    ece_10: CalibrationError
    mean_top_probability: float
    coverage: Share | None


class TemperatureCheck(Model):
    """Temperature scaling as a diagnostic: fitted on the core variants of calibration, trial 1, shown on holdout.

    Above 1 ``temperature`` flattens, below 1 it sharpens; ``at_limit`` tells that the search ended at a limit.
    ``fitted_on`` counts the valid calibration decisions. ``threshold`` is that of the primary gate. Scaling leaves
    every choice as it was, so accuracy stays; it moves the top probabilities, and with them what a fixed gate accepts.
    """

    temperature: Annotated[float, Field(gt=0)]
    at_limit: bool
    fitted_on: int
    threshold: Share | None
    raw: Scaled
    fitted: Scaled


class Calibration(Model):
    """Calibration on the core decisions of a split, all trials; failed decisions have no part beyond ``decisions``.

    ``groups`` are the scenarios with a valid decision. The skills are 1 - score / score of the class priors of
    ``prior_split``; null, as ``no_prior`` says why, without one. ``corp`` decomposes the top-label Brier score.
    Of the ``errors``, ``ece_10`` has equal-width bins, ``debiased_l2_15`` equal-mass bins, ``smooth_ece`` none. Their
    null levels come from ``simulations`` (that of ``smooth_ece``, which takes longest, from a fifth of them) in which
    decisions of a scenario correlate by ``residual_correlation``, as estimated here. ``conclusion`` is what ``ece_10``
    supports beside its null level; no figure shows that a model is calibrated. ``temperature`` is given for the
    holdout; else, or where none was fitted, ``no_temperature`` says why.
    """

    decisions: int
    valid: int
    groups: int
    brier_score: Figure
    brier_skill: Figure
    log_loss: Figure
    log_loss_skill: Figure
    prior_split: Split | None
    no_prior: str | None
    corp: Corp
    residual_correlation: Share
    simulations: int
    errors: dict[str, CalibrationError]
    conclusion: str
    reliability: list[ReliabilityBin]
    extremes: Extremes
    sums: Sums
    log_loss_by_floor: list[FloorLoss]
    temperature: TemperatureCheck | None
    no_temperature: str | None


def calibration_of(
    records: Iterable[Record], protocol: Protocol, threshold: float | None = None, decimals: int | None = None
) -> dict[Split, Calibration]:
    """Calibration on calibration and holdout where core decisions state probabilities there, else on development.

    ``threshold`` is the primary gate's, for its coverage before and after temperature scaling. ``decimals`` are those
    of the rounding that the candidate declares.
    """
    core = [record for record in records if record.role == "core"]
    parts = {split: _part([record for record in core if record.split == split]) for split in SPLITS}
    found = [split for split, part in parts.items() if part.answered]
    shown = [split for split in found if split != "development"] or found
    return {split: _measure(split, parts, protocol, threshold, decimals) for split in shown}


@dataclass(frozen=True, slots=True)
class _Part:
    """The decisions of a split: ``asked`` are all, ``answered`` those that state probabilities."""

    asked: Entries
    answered: Entries


def _part(records: Sequence[Record]) -> _Part:
    asked = [(record, decision) for record in records for decision in record.decisions]
    return _Part(asked, [(record, decision) for record, decision in asked if decision.probabilities is not None])


def _measure(
    split: Split, parts: Mapping[Split, _Part], protocol: Protocol, threshold: float | None, decimals: int | None
) -> Calibration:
    part = parts[split]
    d = distributions_of(part.answered)
    top = d.top_probability
    prior_split, no_prior = _prior_split(split, parts)
    priors = _prior_scores(part, parts[prior_split], protocol.log_loss_floor) if prior_split else None
    brier, brier_skill, loss, loss_skill = _scores(d, priors, no_prior, protocol)
    bands = GroupBootstrap(d.group, d.trial, resamples=protocol.curve_resamples, seed=protocol.seed)
    correlation, errors = _errors(d, _ERRORS, protocol)
    check, no_check = _temperature(split, parts, d, errors["ece_10"], protocol, threshold)
    decomposed = corp(top, d.correct)
    assert decomposed is not None  # There is a decision.
    return Calibration(
        decisions=len(part.asked),
        valid=len(d),
        groups=bands.groups,
        brier_score=brier,
        brier_skill=brier_skill,
        log_loss=loss,
        log_loss_skill=loss_skill,
        prior_split=prior_split,
        no_prior=no_prior,
        corp=decomposed,
        residual_correlation=correlation,
        simulations=protocol.curve_resamples,
        errors=errors,
        conclusion=_conclusion(errors["ece_10"]),
        reliability=reliability(top, d.correct, bands),
        extremes=_extremes(d, top),
        sums=_sums(part.answered),
        log_loss_by_floor=list(_floor_losses(d, decimals)),
        temperature=check,
        no_temperature=no_check,
    )


def _prior_split(split: Split, parts: Mapping[Split, _Part]) -> tuple[Split | None, str | None]:
    """Where the class priors of ``split`` come from, or why there are none."""
    frozen: tuple[Split, ...] = ("development", "calibration")
    measured = [name for name in frozen if parts[name].asked]
    if not measured:
        return None, NO_PRIOR_SPLIT
    return (None, OWN_PRIOR) if measured[0] == split else (measured[0], None)


def _prior_scores(part: _Part, frozen: _Part, floor: float) -> Floats:
    """Brier score and log loss of the class priors of ``frozen`` on each answered decision, of shape (decisions, 2)."""
    import numpy as np

    counts = label_counts((record.group, _question(record, d), d.expected) for record, d in frozen.asked)
    known: dict[tuple[str, str, tuple[str, ...]], tuple[float, float]] = {}
    rows = []
    for record, decision in part.answered:
        key = (_question(record, decision), decision.expected, tuple(decision.probabilities or ()))
        if key not in known:
            prior = class_prior(counts, key[0], key[2])
            known[key] = (brier_score(prior, key[1]), log_loss(prior, key[1], floor))
        rows.append(known[key])
    return np.array(rows)


def _question(record: Record, decision: Decision) -> str:
    return f"{record.family}/{decision.question}"


def _scores(d: Distributions, priors: Floats | None, no_prior: str | None, protocol: Protocol) -> list[Figure]:
    """Brier score and its skill, log loss and its skill, with intervals from the same resamples of scenarios."""
    import numpy as np

    own = np.column_stack([d.brier_scores(), d.log_losses(protocol.log_loss_floor)])
    bootstrap = GroupBootstrap(d.group, d.trial, resamples=protocol.resamples, seed=protocol.seed)
    references = np.zeros((len(d), 2)) if priors is None else priors
    totals = bootstrap.resampled(np.column_stack([own, references, np.ones(len(d))]))
    figures = []
    for k in (0, 1):
        score, reference = totals[:, k], totals[:, 2 + k]
        figures.append(figure_of(mean(own[:, k]), score / totals[:, 4], bootstrap.groups))
        if priors is None:
            figures.append(Figure(value=None, interval=None, no_interval=no_prior, groups=bootstrap.groups))
        else:
            skills = 1 - np.divide(score, reference, out=np.full(score.shape, np.nan), where=reference > 0)
            figures.append(figure_of(skill_score(own[:, k], priors[:, k]), skills, bootstrap.groups))
    return figures


def _errors(
    d: Distributions, errors: Mapping[str, Statistic], protocol: Protocol
) -> tuple[float, dict[str, CalibrationError]]:
    """The residual correlation, and each error beside its null level under it."""
    import numpy as np

    top = d.top_probability
    correlation = residual_correlation(top, d.correct, d.group_codes, d.items)
    nulls: dict[str, NullLevel] = {}
    for name, statistic in errors.items():
        simulations = protocol.curve_resamples // (_FEWER if name == "smooth_ece" else 1)
        nulls |= null_levels(
            top, d.group_codes, d.items, correlation, {name: statistic}, simulations=simulations, seed=protocol.seed
        )
    observed = d.correct.astype(np.float64)[:, None]
    return correlation, {
        name: _error(float(statistic(top, observed)[0]), nulls[name]) for name, statistic in errors.items()
    }


def _error(value: float, null: NullLevel) -> CalibrationError:
    if math.isnan(value):
        return CalibrationError(value=None, null_mean=None, null_p95=None)
    return CalibrationError(value=value, null_mean=null.mean, null_p95=null.p95)


def _conclusion(ece: CalibrationError) -> str:
    assert ece.value is not None
    assert ece.null_p95 is not None  # There is a decision.
    return NO_EVIDENCE if ece.value <= ece.null_p95 + _SAME else EVIDENCE


def _extremes(d: Distributions, top: Floats) -> Extremes:
    certain = top == 1
    return Extremes(
        zero_anywhere=float(d.has_zero().mean()),
        zero_on_reference=float((d.expected_probability == 0).mean()),
        top_one=float(certain.mean()),
        accuracy_top_one=mean(d.correct[certain]),
    )


def _sums(answered: Entries) -> Sums:
    import numpy as np

    off = np.array([abs(decision.raw_sum - 1) for _, decision in answered if decision.raw_sum is not None])
    return Sums(decisions=len(off), largest=float(off.max()) if off.size else None, beyond=mean(off > _OFF))


def _floor_losses(d: Distributions, decimals: int | None) -> Iterator[FloorLoss]:
    half_step = None if decimals is None or not 0 < decimals <= _MOST_DECIMALS else float(f"5e-{decimals + 1}")
    for floor in sorted({*FLOORS, *([] if half_step is None else [half_step])}):
        yield FloorLoss(floor=floor, log_loss=float(d.log_losses(floor).mean()), rounding=floor == half_step)


def _temperature(
    split: Split,
    parts: Mapping[Split, _Part],
    d: Distributions,
    raw_ece: CalibrationError,
    protocol: Protocol,
    threshold: float | None,
) -> tuple[TemperatureCheck | None, str | None]:
    """The check on ``d``, the valid decisions of ``split``, or why there is none."""
    if split != "holdout":
        return None, NOT_HOLDOUT
    first = [(record, decision) for record, decision in parts["calibration"].answered if record.trial == 1]
    if not first:
        return None, NOTHING_TO_FIT
    floor = protocol.log_loss_floor
    fit = distributions_of(first)
    temperature = fit_temperature(relative_logs(fit.probabilities, fit.starts, floor), fit.starts, fit.references)
    scaled = d.at_temperature(relative_logs(d.probabilities, d.starts, floor), temperature)
    _, errors = _errors(scaled, {"ece_10": expected_calibration_errors}, protocol)
    asked = len(parts[split].asked)
    check = TemperatureCheck(
        temperature=temperature,
        at_limit=temperature in LIMITS,
        fitted_on=len(fit),
        threshold=threshold,
        raw=_scaled(d, raw_ece, asked, floor, threshold),
        fitted=_scaled(scaled, errors["ece_10"], asked, floor, threshold),
    )
    return check, None


def _scaled(d: Distributions, ece: CalibrationError, asked: int, floor: float, threshold: float | None) -> Scaled:
    top = d.top_probability
    return Scaled(
        log_loss=float(d.log_losses(floor).mean()),
        brier_score=float(d.brier_scores().mean()),
        ece_10=ece,
        mean_top_probability=float(top.mean()),
        coverage=None if threshold is None else float((top >= threshold).sum()) / asked,
    )

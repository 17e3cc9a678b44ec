"""The rules of the protocol that a user may choose for gates: their options, their limits, and the file of costs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import ValidationError

from decibench.cases.door import UsageError
from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.gates.p_values.methods import METHODS
from decibench.reports.protocol import DEFAULT_PROTOCOL, CostMatrix, Estimand, Protocol

_LEAST_LEVEL: Final = 1e-4
"""Smaller levels ask for more groups than anybody has."""
_LEVEL: Final = f"use a number from {_LEAST_LEVEL:g} to {1 - _LEAST_LEVEL:g}"
_MATRIX: Final = "wrong, unsafe and fallback, and families by name with the same three"

RULE_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "max_error": {"type": float, "metavar": "X", "help": "largest calibration error of the empirical gate (0.05)"},
    "min_accepted": {"type": int, "metavar": "N", "help": "fewest accepted decisions of the empirical gate (10)"},
    "gate_method": {
        "choices": ("empirical", "auto", *METHODS),
        "help": "the primary gate: empirical (default), or the certified one, by the number of scenarios or by name",
    },
    "alpha": {"type": float, "metavar": "X", "help": "largest long-run error that a certified gate may leave (0.05)"},
    "delta": {"type": float, "metavar": "X", "help": "1 - confidence of a certified gate (0.1)"},
    "estimand": {
        "choices": get_args(Estimand),
        "help": "the error that is bounded: by scenario, or scenarios with any error",
    },
    "max_unsafe": {"type": float, "metavar": "X", "help": "largest share of scenarios that accept an unsafe option"},
}
"""The options by rule, as argparse and pytest take them; ``--max-error`` chooses ``max_error``."""

_EXPECTED: Final = {
    "max_error": "use a share in [0, 1)",
    "min_accepted": "use at least 1",
    "gate_method": f"use empirical, auto, {', '.join(METHODS)}",
    "alpha": _LEVEL,
    "delta": _LEVEL,
    "estimand": f"use {' or '.join(get_args(Estimand))}",
    "max_unsafe": _LEVEL,
    "costs": f"use {_MATRIX}",
}


GATE_RULES: Final = tuple(_EXPECTED)
"""All rules that may be chosen, in the names of the protocol."""


def option_of(rule: str) -> str:
    """The option that chooses ``rule``.

    >>> option_of("gate_method")
    '--gate-method'
    """
    return f"--{rule.replace('_', '-')}"


def with_rules(protocol: Protocol, chosen: Mapping[str, Any]) -> Protocol:
    """``protocol`` with the ``chosen`` rules; None leaves a rule as it is. UsageError names the option that is wrong.

    >>> with_rules(DEFAULT_PROTOCOL, {"alpha": 0.02}).alpha
    0.02
    """
    given = {rule: value for rule, value in chosen.items() if value is not None}
    unknown = sorted(given.keys() - set(GATE_RULES))
    if unknown:
        raise UsageError(f"{unknown[0]}: is no rule of gates; known are {', '.join(GATE_RULES)}")
    try:
        changed = Protocol.model_validate(protocol.model_dump() | given)
    except ValidationError as error:
        rule = str(error.errors()[0]["loc"][0])
        raise UsageError(f"{option_of(rule)}: {_EXPECTED[rule]}") from None
    for rule in ("alpha", "delta", "max_unsafe"):
        level = getattr(changed, rule)
        if level is not None and not _LEAST_LEVEL <= level <= 1 - _LEAST_LEVEL:
            raise UsageError(f"{option_of(rule)}: {_LEVEL}")
    method = changed.gate_method
    bounded = METHODS[method].estimands if method != "empirical" and method != "auto" else (changed.estimand,)
    if changed.estimand not in bounded:
        estimand = bounded[0]
        raise UsageError(
            f"--gate-method {method} bounds the estimand {estimand}, not {changed.estimand}; "
            f"give --estimand {estimand}, or choose another method"
        )
    return changed


def with_default_rules(protocol: Protocol) -> Protocol:
    """``protocol`` with the default rules of gates: what a gate that brings its own rules is applied under."""
    return protocol.model_copy(update={rule: getattr(DEFAULT_PROTOCOL, rule) for rule in GATE_RULES})


def chosen_rules(protocol: Protocol) -> dict[str, Any]:
    """The rules of gates in which ``protocol`` differs from the default one, as JSON."""
    own, default = protocol.model_dump(mode="json"), DEFAULT_PROTOCOL.model_dump(mode="json")
    return {rule: own[rule] for rule in GATE_RULES if own[rule] != default[rule]}


def read_costs(path: Path, families: Sequence[str]) -> CostMatrix:
    """Read a TOML file of costs for a suite of ``families``; SuiteError or UsageError names file and field."""
    try:
        costs = CostMatrix.model_validate(tomllib.loads(path.read_bytes().decode()))
    except OSError as error:
        raise UsageError(f"--costs {path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise SuiteError(problems_of(error, str(path))) from error
    except ValueError as error:
        raise UsageError(f"--costs {path}: is not TOML: {error}; write {_MATRIX}") from error
    unknown = [family for family in costs.families if family not in families]
    if unknown:
        message = f"is no family of the suite; use {', '.join(families)}"
        raise SuiteError([Problem(str(path), message, None, f"families.{unknown[0]}")])
    return costs

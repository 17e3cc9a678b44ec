"""Audits of a suite that ask candidates: leakage without the state, triviality, hopelessness, sizes in tokens.

All of them look at development and calibration only, except sizes, which say nothing about answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from decibench.candidates.adapter import Candidate, CandidateError, QuestionAnswer
from decibench.candidates.fitted import Fitted
from decibench.candidates.registry import REGISTRY
from decibench.candidates.setup import Setup
from decibench.cases.audits import LEVEL, PERMUTATIONS, Finding, by_family, first, visible
from decibench.cases.loading import Suite
from decibench.cases.multiplicity import holm
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.cases.states import values_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LEXICAL: Final = 0.60
MOST_TFIDF: Final = 0.75
LEAST_ABOVE_MAJORITY: Final = 3
WINDOW: Final = 512
HEAD: Final = 192
_FITTED: Final = frozenset({"majority", "fitted"})


def audit_candidates(suite: Suite) -> list[Finding]:
    """All audits that ask the shipped candidates."""
    development = [c for c in suite.cases if c.split == "development" and c.variant == "original"]
    built = {
        name: entry.create(Setup("cpu", entry.settings_model(), development))
        for name, entry in REGISTRY.items()
        if not entry.remote and entry.check(entry.settings_model()) is None
    }
    if "sparrow" in built:
        sizes = _tokens(suite)
    else:
        sizes = Finding("not hopeless, and fits small windows", "not run: pip install 'decibench[sparrow]'", False)
    return [*_leakage(suite, built), *_difficulty(suite, built), sizes]


def _leakage(suite: Suite, built: dict[str, Candidate]) -> list[Finding]:
    blind = [case.model_copy(update={"state": ""}) for case in visible(suite)]
    findings = []
    for name, candidate in built.items():
        # What was fitted on the development split is asked about calibration only.
        cases = [c for c in blind if c.split == "calibration" or name not in _FITTED]
        p_values = {family: _blind_p(candidate, members) for family, members in by_family(cases).items()}
        adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
        worst = min(adjusted, key=lambda family: adjusted[family])
        figure = f"{name}: smallest Holm-adjusted p over families {adjusted[worst]:.3f} ({worst})"
        findings.append(Finding("nothing is told by the options alone", figure, adjusted[worst] > LEVEL))
    return findings


def _blind_p(candidate: Candidate, cases: Sequence[Case]) -> float:
    """Accuracy without a state against references dealt out anew: is it above what chance gives this candidate?

    References are permuted over the scenarios; among tools one that fits is drawn from those that are offered.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    choices = [_choice(candidate, case) for case in cases]
    references = [first(case)[1] for case in cases]
    observed = sum(a == b for a, b in zip(choices, references, strict=True))
    many = len(first(cases[0])[0].options) > 4
    draws = np.empty(PERMUTATIONS)
    for index in range(PERMUTATIONS):
        dealt = [references[i] for i in rng.permutation(len(references))]
        if many:
            dealt = [
                label if label == "none-of-these" else _any_tool(case, rng)
                for label, case in zip(dealt, cases, strict=True)
            ]
        draws[index] = sum(a == b for a, b in zip(choices, dealt, strict=True))
    return float((1 + (draws >= observed).sum()) / (1 + PERMUTATIONS))


def _any_tool(case: Case, rng: np.random.Generator) -> str:
    tools = [option for option in first(case)[0].options if option != "none-of-these"]
    return tools[int(rng.integers(len(tools)))]


def _choice(candidate: Candidate, case: Case) -> str:
    """What a candidate chooses; empty, and so wrong, where it cannot answer."""
    key = next(iter(case.questions))
    try:
        answer = candidate.decide(request_of(case)).questions[key]
    except CandidateError:
        return ""
    assert isinstance(answer, QuestionAnswer)
    if answer.choice is not None:
        return answer.choice
    probabilities = answer.probabilities
    assert probabilities is not None
    return max(case.questions[key].options, key=lambda option: probabilities[option])


def _difficulty(suite: Suite, built: dict[str, Candidate]) -> list[Finding]:
    families = by_family(visible(suite))
    lexical = _mean([_accuracy(built["baseline"], members) for members in families.values()])
    tfidf = {family: _cross_validated(members) for family, members in families.items()}
    findings = [
        Finding("not trivial: word overlap", f"macro accuracy of baseline {lexical:.1%}", lexical < MOST_LEXICAL),
        Finding(
            "not trivial: bag of words",
            f"macro accuracy of TF-IDF and logistic regression, grouped folds, {_mean(list(tfidf.values())):.1%}",
            _mean(list(tfidf.values())) < MOST_TFIDF,
        ),
    ]
    if "sparrow" in built:
        above = []
        for family, members in families.items():
            counts = Counter(first(case)[1] for case in members)
            accuracy, majority = _accuracy(built["sparrow"], members), max(counts.values()) / len(members)
            if accuracy > majority:
                above.append(f"{family} {accuracy:.1%} against {majority:.1%}")
        figure = f"sparrow above the majority rate in {len(above)} families: {', '.join(above) or 'none'}"
        findings.append(Finding("not hopeless", figure, len(above) >= min(LEAST_ABOVE_MAJORITY, len(families))))
    return findings


def _accuracy(candidate: Candidate, cases: Sequence[Case]) -> float:
    return _mean([float(_choice(candidate, case) == first(case)[1]) for case in cases])


def _cross_validated(cases: Sequence[Case]) -> float:
    """Accuracy in five folds of scenarios: a classifier of the state, or of (state, option) pairs for many tools.

    Classes of fewer cases make for fewer folds; where a class has one case only, the majority rate stands in.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline

    labels = [first(case)[1] for case in cases]
    few = len(first(cases[0])[0].options) <= 4
    sizes = Counter(labels).values()
    if len(sizes) == 1 or (few and min(sizes) == 1):
        return max(sizes) / len(labels)
    if few:
        model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(C=10.0))
        folds = StratifiedKFold(min(5, *sizes), shuffle=True, random_state=0)
        scores: NDArray[np.float64] = cross_val_score(model, [_text(case) for case in cases], labels, cv=folds)
        return float(scores.mean())
    hits = []
    for fold in range(5):
        fitted = Fitted([case for index, case in enumerate(cases) if index % 5 != fold])
        hits += [float(_choice(fitted, c) == first(c)[1]) for index, c in enumerate(cases) if index % 5 == fold]
    return _mean(hits)


def _tokens(suite: Suite) -> Finding:
    """Sizes of every case but long-context, by the WordPiece tokenizer that ships with sparrow-decider."""
    import sparrow_decider

    encode: Callable[..., list[int]] = sparrow_decider.Decider.load().static.tok.encode
    longest = longest_head = 0
    sized: dict[str, int] = {}
    for case in suite.cases:
        if case.variant == "long-context":
            continue
        for question in case.questions.values():
            options = "\n".join(f"{option}: {question.describe(option)}" for option in question.options)
            if len(question.options) > 8:
                continue
            for text in (asked := f"{question.instructions}\n{options}", state := _state_text(case)):
                if text not in sized:
                    sized[text] = len(encode(text, 10_000))
            longest_head = max(longest_head, sized[asked])
            longest = max(longest, sized[asked] + sized[state])
    figure = f"with up to 8 options: state and question at most {longest} tokens, question alone {longest_head}"
    return Finding("fits small windows", figure, longest <= WINDOW and longest_head <= HEAD)


def _text(case: Case) -> str:
    return " ".join(values_of(case.state))


def _state_text(case: Case) -> str:
    state: Any = case.state
    return state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

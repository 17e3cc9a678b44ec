"""What a page carries for its script: data packed small, and the texts of a case as they are shown."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from decibench.cases.schema import Case, Question, State


def packed(content: object) -> str:
    """``content`` as JSON, gzip and base64: the same bytes for the same content, and no letter that HTML minds."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def case_texts(case: Case) -> dict[str, Any]:
    """The state of ``case``, and of each question the instructions and the description of every option."""
    return {
        "state": _shown(case.state),
        "questions": {key: _question(question) for key, question in case.questions.items()},
    }


def _question(question: Question) -> dict[str, Any]:
    descriptions = {option: question.describe(option) for option in question.options}
    return {"instructions": question.instructions, "descriptions": descriptions}


def _shown(state: State) -> str:
    # Laid out here, because a browser would round long whole numbers.
    return state if isinstance(state, str) else json.dumps(state, indent=2, ensure_ascii=False)

"""Templates: the frame that every page shares, with its style, its script and the drawing library inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decibench.reports.pages.chart import Chart

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, charts: Sequence[Chart], **context: Any) -> str:
    """Render a template of this folder; every value is escaped, and nothing is loaded from anywhere.

    The drawing library (Vega-Lite, some 0.9 MB) is in a page with charts only.
    """
    from markupsafe import Markup

    library = Markup(_library() if charts else "")
    specs = {chart.key: chart.spec for chart in charts}
    return _environment().get_template(template).render(library=library, specs=specs, **context)


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _library() -> str:
    import vl_convert

    # Its type stub calls for a snippet that its documentation calls optional.
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return bundle.replace("</script", "<\\/script")

"""How the candidates of a page are told apart: each by a colour, and by a dash or a shape for those who see none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from decibench.reports.pages.theme import DASHES, PAINTS

if TYPE_CHECKING:
    import altair as alt

_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross")
_DASHES: Final = DASHES[: len(_SHAPES)]


class Series:
    """The scales of candidates called ``names``, the same in every chart of a page.

    There are seven colours, and five dashes and shapes: beyond seven candidates a colour comes back with another shape.
    Channels of one chart that have the same legend share it.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)

    def colour(self, legend: alt.Legend | None) -> alt.Color:
        """Colour by candidate."""
        import altair as alt

        return alt.Color("candidate:N", scale=self._scale(PAINTS), legend=legend)

    def dash(self, legend: alt.Legend | None) -> alt.StrokeDash:
        """Dash by candidate."""
        import altair as alt

        return alt.StrokeDash("candidate:N", scale=self._scale(_DASHES), legend=legend)

    def shape(self, legend: alt.Legend | None) -> alt.Shape:
        """Shape by candidate."""
        import altair as alt

        return alt.Shape("candidate:N", scale=self._scale(_SHAPES), legend=legend)

    def legend(self, **look: Any) -> alt.Legend:
        """A legend of one name a line, for narrow screens; ``look`` is what Altair calls its properties."""
        import altair as alt

        return alt.Legend(columns=1, direction="vertical", **look)

    def _scale(self, values: Sequence[Any]) -> alt.Scale:
        import altair as alt

        return alt.Scale(domain=self.names, range=[values[index % len(values)] for index in range(len(self.names))])

"""The ladder as a picture: time against length, in powers, by matplotlib where that is installed."""

from __future__ import annotations

import importlib
import io
from typing import Any

from tilestep.bench.contenders import BF16, FP32, RUNG
from tilestep.bench.ladder import Ladder

MISSING = "matplotlib draws the picture and is not installed: pip install 'tilestep[plot]'"

_SIZE = (9.0, 6.4)  # inches
_DOTS = 160  # an inch
_OURS = ("#c0392b", "#e67e22", "#8e44ad", "#d6336c", "#7f4f24", "#b8860b")
_PEERS = {"sdpa": "#3b6ea5", "flex": "#2a9d8f", "fa3": "#4c9a2a"}
_MARKERS = {"math": "o", "efficient": "s", "flash": "^", "cudnn": "D"}
_FLOOR = "#9aa0a6"
_ROOM_BELOW = 10


class NoMatplotlibError(Exception):
    """Says how to get it."""


def require_matplotlib() -> None:
    """Raises NoMatplotlibError, before anything is measured in vain."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise NoMatplotlibError(MISSING) from None


def plot(ladder: Ladder) -> bytes:
    """A PNG of all who have a time, a panel for each precision. Raises NoMatplotlibError."""
    require_matplotlib()
    figure_module: Any = importlib.import_module("matplotlib.figure")
    timed = [row for row in ladder.rows if row.median_ms is not None]
    panels = [p for p in (FP32, BF16) if any(row.precision == p for row in timed)] or [FP32]
    figure = figure_module.Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, precision in zip(axes, panels, strict=True):
        _draw(panel, ladder, precision)
    if timed:  # a floor far below everybody is out of sight
        fastest = min(row.median_ms for row in timed if row.median_ms is not None)
        axes[0].set_ylim(bottom=fastest * 1e3 / _ROOM_BELOW)
    axes[0].yaxis.set_major_formatter(lambda us, _: f"{us / 1e3:g} ms" if us >= 1e3 else f"{us:g} us")
    axes[0].set_ylabel("median time")
    figure.suptitle(f"Causal attention of the block on {ladder.gpu}", fontsize=12)
    image = io.BytesIO()
    figure.savefig(image, dpi=_DOTS, format="png")
    return image.getvalue()


def _draw(panel: Any, ladder: Ladder, precision: str) -> None:
    rows = [row for row in ladder.rows if row.precision == precision]
    ours = list(dict.fromkeys(row.name for row in rows if row.kind == RUNG))
    for name in dict.fromkeys(row.name for row in rows):
        points = [(r.length, r.median_ms * 1e3) for r in rows if r.name == name and r.median_ms is not None]
        if points:
            look = _look(name, ours.index(name) if name in ours else None)
            panel.plot(*zip(*points, strict=True), label=name, **look)
    floors = sorted({(row.length, row.floor_ms * 1e3) for row in rows if row.floor_ms})
    if floors:
        panel.plot(*zip(*floors, strict=True), color=_FLOOR, linestyle=":", linewidth=1.5, label="floor")
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(ladder.lengths, [str(length) for length in ladder.lengths])
    panel.minorticks_off()
    panel.set_xlabel("T, tokens")
    panel.set_title(f"{precision} inputs and output", fontsize=10)
    panel.grid(visible=True, which="major", color="#e6e8eb")
    panel.set_axisbelow(True)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def _look(name: str, rung: int | None) -> dict[str, Any]:
    """Ours warm, solid and thick; peers cool and dashed, SDPA's backends told apart by their markers."""
    if rung is not None:
        return {"color": _OURS[rung % len(_OURS)], "marker": "o", "linewidth": 2.2, "markersize": 5}
    family, _, rest = name.partition("-")
    marker = _MARKERS.get(rest.partition("-")[0], "v")
    return {
        "color": _PEERS.get(family, _FLOOR),
        "marker": marker,
        "linestyle": "--",
        "linewidth": 1.2,
        "markersize": 4.5,
    }

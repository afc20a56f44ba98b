"""Where an output is wrong, drawn as a map: shades in a terminal, pixels in a PNG."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from tilestep import contract
from tilestep.contract import DH
from tilestep.inspect.errors import ErrorMap, Errors
from tilestep.report.console import show_text
from tilestep.report.png import encode_png

LINES = 40  # of a map, at most
MARGIN = 8  # width of the row numbers
CELLS = 64  # across, at most
PER_HEAD = (8, 4)  # cells of a head, if so many fit

# Shades by error / tolerance: up to 1 is right. The last one is NaN or infinite.
_LIMITS = (1.0, 10.0, 1e3, math.inf)
_SHADES = "·░▒▓█"
_PLAIN = ".-+*#"
_STYLES = ("quiet", "slow", "slow", "wrong", "wrong")
_FIRST = "X"

_RIGHT, _NOT_JUDGED = (232, 236, 240), (255, 255, 255)
_COLOURS = ((246, 197, 120), (236, 130, 70), (200, 40, 40), (90, 0, 60))
_FIRST_COLOUR = (0, 90, 220)
_BETWEEN_HEADS = (160, 168, 176)
_ACROSS, _DOWN = 640, 480  # pixels that a picture is enlarged to, about


def show_errors(errors: Errors, console: Console) -> None:
    """Prints a map of each tensor that the kernel wrote."""
    console.print()
    where = f"{errors.length_name} = {errors.length} ({errors.family}, seed {errors.seed})"
    console.print(Text.assemble((Path(errors.file).name, "bold"), f"   {errors.step}, {where}"))
    for one in errors.maps:
        console.print()
        wrong = f"{int(one.wrong.sum()):,} of {int(one.judged.sum()) * one.ratio.shape[1]:,} values wrong"
        console.print(Text.assemble((one.tensor, "code"), f"   {wrong}"))
        for line in draw(one, shades(console)):
            console.print(line)
    console.print()
    show_text(_legend(errors, shades(console)), console)
    console.print()


def shades(console: Console) -> str:
    """The five shades that the console's encoding can show."""
    return _SHADES if (console.encoding or "").lower().startswith("utf") else _PLAIN


def draw(one: ErrorMap, characters: str) -> list[Text]:
    """The map as lines of at most 80 columns: a line for each few rows, a character for each few columns."""
    rows, width = one.ratio.shape
    per_line = math.ceil(rows / LINES)
    names = _head_names(one)
    per_head = next((n for n in PER_HEAD if len(names) * (n + 1) <= CELLS + max(PER_HEAD)), 0) if names else 0
    per_cell = DH // per_head if per_head else math.ceil(width / CELLS)
    cells = one.by_cell(per_line, per_cell)
    first = None if one.first is None else (one.first[0] // per_line, one.first[1] // per_cell)
    lines = []
    if per_head:
        titles = "".join(name.ljust(per_head + 1) for name in names)
        lines.append(Text(" " * MARGIN + titles.rstrip(), style="quiet"))
    for number, values in enumerate(cells):
        low, high = number * per_line, min((number + 1) * per_line, rows) - 1
        label = str(low) if low == high else f"{low}-{high}"
        label = label if len(label) < MARGIN else f"{low}.."
        line = Text(label.rjust(MARGIN - 1) + " ", style="quiet")
        for cell, ratio in enumerate(values):
            if per_head and cell and cell % per_head == 0:
                line.append(" ")
            if first == (number, cell):
                line.append(_FIRST, style="wrong")
            elif ratio < 0:
                line.append(" ")
            else:
                level = _level(float(ratio))
                line.append(characters[level], style=_STYLES[level])
        line.rstrip()
        lines.append(line)
    return lines


def _head_names(one: ErrorMap) -> list[str]:
    """What the heads are called, in the order of their columns: "head 3", or "K1" in a packed tensor."""
    if one.group != DH:
        return []
    places = (contract.TENSOR[one.tensor].position(column) for column in range(0, one.ratio.shape[1], DH))
    return [f"{place.region}{place.head}" if place.region else f"head {place.head}" for place in places]


def _level(ratio: float) -> int:
    """Which shade a ratio has; NaN and infinities have the last one."""
    if not ratio <= _LIMITS[-2] and not ratio < math.inf:
        return len(_LIMITS)
    return next(level for level, limit in enumerate(_LIMITS) if ratio <= limit)


def _legend(errors: Errors, characters: str) -> Text:
    names = ("right", "above the tolerance", "10 times", "1000 times", "NaN or infinite")
    keys = "   ".join(f"{shade} {name}" for shade, name in zip(characters, names, strict=True))
    if errors.first is None:
        return Text(keys)
    return Text(f"{keys}   {_FIRST} first wrong: {errors.first.tensor}, {errors.first.place}")


def pixels(one: ErrorMap) -> NDArray[np.uint8]:
    """The map as an image [height, width, 3]: every value has whole pixels, the first wrong one blue."""
    ratio = np.where(np.isnan(one.ratio), np.inf, one.ratio)
    image = np.empty((*ratio.shape, 3), dtype=np.uint8)
    image[:] = _RIGHT
    for limit, colour in zip(_LIMITS[:-1], _COLOURS, strict=False):
        image[ratio > limit] = colour
    image[np.isinf(ratio)] = _COLOURS[-1]
    image[~one.judged] = _NOT_JUDGED
    if one.group > 1:
        image[:, one.group :: one.group] = np.minimum(image[:, one.group :: one.group], _BETWEEN_HEADS)
    high, wide = max(1, _DOWN // ratio.shape[0]), max(1, _ACROSS // ratio.shape[1])
    image = image.repeat(high, axis=0).repeat(wide, axis=1)
    if one.first is not None:
        row, column = one.first[0] * high, one.first[1] * wide
        image[row : row + high, max(0, column - wide) : column + 2 * wide] = _FIRST_COLOUR
    return image


def picture(errors: Errors) -> bytes:
    """The maps below one another as a PNG: a pixel or more for each value."""
    images = [pixels(one) for one in errors.maps]
    width = max(image.shape[1] for image in images)
    rows = []
    for image in images:
        padded = np.full((image.shape[0] + 4, width, 3), 255, dtype=np.uint8)
        padded[: image.shape[0], : image.shape[1]] = image
        rows.append(padded)
    return encode_png(np.concatenate(rows))

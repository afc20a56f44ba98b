"""Options and kinds of arguments that more than one command takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import click

from tilestep.cli.parameter import ParamType
from tilestep.judge import Verdict
from tilestep.judge.both import judge_both
from tilestep.report import pages
from tilestep.subjects import registered
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Target


@cache
def _gpu() -> Target:
    """One for the whole process: it keeps its worker."""
    from tilestep.targets.gpu import GpuTarget  # loaded only where a GPU is asked for

    return GpuTarget()


TARGETS: dict[str, Callable[[], Target]] = {"cpu": CpuTarget, "gpu": _gpu}
BOTH = "both"  # the CPU's checkers first, then the GPU
JUDGES = (*TARGETS, BOTH)
AUTO = "auto"  # the GPU where there is one
TARGET_VARIABLE = "TILESTEP_TARGET"  # of the environment: AUTO or one of JUDGES
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))  # there where a driver is, the second under WSL


def chosen(name: str, say: Callable[[str], None]) -> str:
    """One of JUDGES: what `name` is, or what AUTO comes to here. `say` hears why a GPU is not used.

    Without a driver nothing of the GPU's is loaded.
    """
    if name != AUTO:
        return name
    if not any(device.exists() for device in _DEVICES):
        return "cpu"
    missing = TARGETS["gpu"]().available()
    if missing is not None:
        say(f"the GPU is not used: {missing}")
    return "gpu" if missing is None else "cpu"


def judge_on(name: str, judge: Callable[[Target], Verdict]) -> Verdict:
    """The verdict of a judgement on a target by name, one of JUDGES."""
    if name == BOTH:
        return judge_both(judge, TARGETS["cpu"](), TARGETS["gpu"]())
    return judge(TARGETS[name]())


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document, nothing else.")


class StepName(ParamType[str]):
    """A step of the path that can be judged."""

    name = "step"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = registered()
        if value not in known:
            close = pages.nearest(str(value), known)
            others = [name for name in known if name not in close]
            self.fail(
                f"no step is called {value!r}; the steps are {', '.join([*close, *others])}", param, ctx
            )
        return str(value)


class Lengths(ParamType[tuple[int, ...]]):
    """Lengths separated by commas; which of them a step takes is the command's to say."""

    name = "n,n,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers such as 1,33", param, ctx)

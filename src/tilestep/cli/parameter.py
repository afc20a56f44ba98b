"""click's ParamType. Only newer versions of click take the type that it converts to as an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click import ParamType as ParamType
else:

    class ParamType(click.ParamType):
        """Takes a type argument, as in `ParamType[str]`, and leaves it to the type checker."""

        def __class_getitem__(cls, item: Any) -> type[ParamType]:
            return cls


class Whole(click.IntRange):
    """A whole number in a range, refused with a sentence that says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            to = f" to {self.max}" if self.max is not None else " on"
            self.fail(f"{value!r} is not a whole number from {self.min}{to}", param, ctx)

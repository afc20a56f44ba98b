"""The table of README.md, from the records: `python -m cheats.listing`, in tests/, writes it anew."""

from __future__ import annotations

from collections.abc import Sequence

from cheats.corpus import HERE, Cheat, cheats

_HEAD = "| number | file | cheat | on a CPU | on a GPU |\n|---|---|---|---|---|\n"


def listing(every: Sequence[Cheat]) -> str:
    """The table, in the order of the known numbers; ways of our own come last."""
    ordered = sorted(every, key=lambda cheat: (cheat.record["number"][:1] or [1000], cheat.file.name))
    return _HEAD + "".join(_row(cheat) for cheat in ordered)


def _row(cheat: Cheat) -> str:
    record = cheat.record
    numbers = ", ".join(str(number) for number in record["number"]) or "-"
    cpu = " or ".join(record["cpu"]["outcome"])
    why = record.get("honest") or record["cpu"]["says"]
    gpu = " or ".join(record["gpu"]["outcome"])
    return (
        f"| {numbers} | [{cheat.file.stem}]({cheat.file.name}) | {record['cheat']} | {cpu}: {why} | {gpu} |\n"
    )


def main() -> None:
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    begin = text.index("<!-- table -->\n") + len("<!-- table -->\n")
    end = text.index("<!-- end of the table -->")
    readme.write_text(text[:begin] + listing(cheats()) + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()

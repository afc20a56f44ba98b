"""What is in a compiled image: kernels and variables by the device linker's names, matched to the host's.

g++ and nvcc mangle alike but for what has no linkage: g++ marks it with an L (`_ZL4statPfi`), nvcc does not,
or puts a namespace around it that begins with _INTERNAL_; the anonymous namespace is `_GLOBAL__N_1` to the
one and carries the file's name to the other.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_ENTRY = 0x10  # in the byte `other` of a symbol that is a kernel
_SYMBOL_BYTES, _OTHER_AT = 24, 5
_GLOBALS = (".nv.global", ".nv.global.init")
_CONSTANTS = re.compile(r"\.nv\.constant3(\.|$)")
_LONGEST_NAME = 16384
_ANONYMOUS = "_GLOBAL__N_"
_INTERNAL = "_INTERNAL_"
# A length in a mangled name. Its digits are few: a file may name a function _Z and thousands of digits.
_ONE_NAME = re.compile(r"_Z(\d{1,6})(\w+)")
_LENGTH = re.compile(r"\d{1,6}")
_LENGTH_BEFORE = re.compile(r"\d{0,6}$")


class BadImageError(Exception):
    """A compiler's output that is no image."""


@dataclass(frozen=True, eq=False)
class DeviceImage:
    """A cubin. `variables` are the `__device__` and `__constant__` ones with their sizes in bytes.

    A kernel writes into a constant, too, through an address that the host gives it.
    """

    data: bytes
    kernels: frozenset[str]
    variables: Mapping[str, int]

    def readable_variables(self) -> dict[str, int]:
        """The variables' sizes by their own names, where those are told apart by that."""
        short = {name: own_name(name) for name in self.variables}
        counts = Counter(short.values())
        return {
            short[name] if counts[short[name]] == 1 else name: size for name, size in self.variables.items()
        }

    def kernel_names(self, wanted: Iterable[str]) -> dict[str, str]:
        """The image's name for each of the host's names that is there."""
        return match(wanted, self.kernels)

    def variable_names(self, wanted: Iterable[str]) -> dict[str, str]:
        return match(wanted, self.variables)


def read_image(data: bytes) -> DeviceImage:
    """Looks into a cubin. Raises BadImageError."""
    try:
        file = ELFFile(io.BytesIO(data))
        table: Any = file.get_section_by_name(".symtab")
        sections = [section.name for section in file.iter_sections()]
        symbols = list(table.iter_symbols()) if table is not None else []
        others = table.data()[_OTHER_AT::_SYMBOL_BYTES] if table is not None else b""
    except (ELFError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise BadImageError(f"the device compiler wrote no ELF file ({error})") from error
    longest = max((len(symbol.name) for symbol in symbols), default=0)
    if longest > _LONGEST_NAME:
        raise BadImageError(f"a name in its code has {longest:,} characters, and {_LONGEST_NAME:,} are read")
    kernels, variables = set(), {}
    for symbol, other in zip(symbols, others, strict=True):
        kind, index = symbol["st_info"]["type"], symbol["st_shndx"]
        if kind == "STT_FUNC" and other & _ENTRY:
            kernels.add(str(symbol.name))
        elif kind == "STT_OBJECT" and isinstance(index, int) and _counts(sections[index]):
            variables[str(symbol.name)] = int(symbol["st_size"])
    return DeviceImage(data, frozenset(kernels), variables)


def _counts(section: str) -> bool:
    """Whether variables lie there that the host knows."""
    return section in _GLOBALS or _CONSTANTS.match(section) is not None


def match(wanted: Iterable[str], there: Iterable[str]) -> dict[str, str]:
    """From the host linker's names to the device's: the same, the same but for linkage, or the only one
    with that name of its own. Names without a partner are left out."""
    there = set(there)
    by_normal = _unique((normalised(name), name) for name in there)
    by_own = _unique((own_name(name), name) for name in there)
    found = {}
    for name in wanted:
        partner = name if name in there else by_normal.get(normalised(name)) or by_own.get(own_name(name))
        if partner is not None:
            found[name] = partner
    return found


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    pairs = list(pairs)
    counts = Counter(key for key, _ in pairs)
    return {key: name for key, name in pairs if counts[key] == 1}


def normalised(name: str) -> str:
    """A mangled name without the marks of missing linkage."""
    if not name.startswith("_Z"):
        return name
    name = _replaced(name, _ANONYMOUS, "12_GLOBAL__N_1")
    name = _replaced(name, _INTERNAL, "")
    name = re.sub(r"L(?=\d)", "", name)
    only = _ONE_NAME.fullmatch(name)
    return only[2] if only and len(only[2]) == int(only[1]) else name


def _replaced(name: str, begin: str, by: str) -> str:
    """Replaces each length-prefixed part of a name that begins so."""
    done, rest = "", name
    while (at := rest.find(begin)) >= 0:
        digits = _LENGTH_BEFORE.search(rest, max(0, at - 6), at)
        text = digits[0] if digits else ""
        # The digits before it may belong to the name in front: the longest number that fits is the length.
        lengths = [text[cut:] for cut in range(len(text)) if int(text[cut:]) <= len(rest) - at]
        length = next((number for number in lengths if int(number) >= len(begin)), None)
        if length is None:
            done, rest = done + rest[: at + len(begin)], rest[at + len(begin) :]
        else:
            done, rest = done + rest[: at - len(length)] + by, rest[at + int(length) :]
    return done + rest


def own_name(name: str) -> str:
    """The identifier that a mangled name ends its path with: `attend` of `_ZN2ns6attendILi4EEEvPf`."""
    rest = normalised(name)
    if not rest.startswith("_Z"):
        return rest
    at = 2
    while at < len(rest) and rest[at] in "NZK":
        at += 1
    last = ""
    while number := _LENGTH.match(rest, at):
        begin = at + len(number[0])
        last = rest[begin : begin + int(number[0])]
        at = begin + int(number[0])
        if rest[at : at + 1] == "E" and rest[at + 1 : at + 2].isdigit():
            at += 1  # a variable of a function
    return last or rest

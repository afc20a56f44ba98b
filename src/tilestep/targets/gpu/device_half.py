"""The device half of a submission, for a compiler that takes no host code: every line keeps its number.

Host functions that launch, call CUDA's host API or call such a function become blanks; so do headers that are
the host's. What is left unmarked counts as device code (`-default-device`). A template that only host code
instantiates is named at the end of the text, as the launch names it. The text has no macros of its own: it is
what the host's preprocessor made of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tilestep.frontends.structure import Function, analyse
from tilestep.frontends.tokens import Lexed, Token, closing_angle, flatten, lex

_DEVICE = ("__global__", "__device__")
_HOST_CALL = re.compile(r"cuda[A-Z]\w*")
_DEVICE_HEADERS = re.compile(
    r"(cuda_fp\d+|cuda_bf16|math_constants|mma|cooperative_groups|(cuda|cub|nv|cooperative_groups)/.*)\b"
)
_NAMED = "// instantiate: "

# What the host's headers would have brought, and what their macros became; NVRTC has none of it.
PRELUDE = """\
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000)
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000)
#define __builtin_huge_valf() __builtin_inff()
#define __builtin_huge_val() __builtin_inf()
#define __builtin_nanf(tag) __builtin_bit_cast(float, 0x7fc00000)
#define __builtin_nan(tag) __builtin_bit_cast(double, 0x7ff8000000000000)
#define __builtin_offsetof(type, member) reinterpret_cast<unsigned long>(&static_cast<type*>(nullptr)->member)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define __null nullptr
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
"""


def device_half(text: str, file: str) -> str:
    """The text for NVRTC, with the prelude before it and the templates to instantiate behind it."""
    lexed = lex(text, file)
    structure = analyse(lexed)
    blanks = [_extent(function, lexed) for function in _host_functions(lexed, structure.functions)]
    blanks += _host_headers(text)
    named = "".join(f"{_NAMED}{name}\n" for name in sorted(_instantiated(lexed, structure.functions)))
    return f'{PRELUDE}#line 1 "{file}"\n{_blanked(text, blanks)}\n{named}'


def instantiations(text: str) -> list[str]:
    """The names at the end of what `device_half` made."""
    return [line.removeprefix(_NAMED) for line in text.splitlines() if line.startswith(_NAMED)]


def _host_functions(lexed: Lexed, functions: Sequence[Function]) -> list[Function]:
    """Those that only a host can run: they launch, or call CUDA's host API, or another of them."""
    open_ones = [f for f in functions if not any(token.text in _DEVICE for token in f.head)]
    found: list[Function] = []
    names: frozenset[str] = frozenset()
    while True:
        new = [f for f in open_ones if f not in found and _is_hosts(_body(f, lexed), names)]
        if not new:
            return found
        found += new
        names |= {f.name.text for f in new}


def _is_hosts(tokens: Sequence[Token], names: frozenset[str]) -> bool:
    return any(
        token.text == "<<<"
        or (token.kind == "name" and (token.text in names or _HOST_CALL.fullmatch(token.text)))
        for token in tokens
    )


def _body(function: Function, lexed: Lexed) -> Sequence[Token]:
    return lexed.tokens[function.scope.opening : function.scope.closing]


def _extent(function: Function, lexed: Lexed) -> tuple[int, int]:
    first = function.head[0] if function.head else function.name
    last = min(function.scope.closing, len(lexed.tokens) - 1)
    return first.start, lexed.tokens[last].end


def _host_headers(text: str) -> list[tuple[int, int]]:
    found = re.finditer(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]*)[>"][^\n]*', text, re.MULTILINE)
    return [match.span() for match in found if not _DEVICE_HEADERS.match(match[1])]


def _instantiated(lexed: Lexed, functions: Sequence[Function]) -> set[str]:
    """Kernels that nothing in device code asks for: instances that are launched, and what has no linkage."""
    kernels = [function for function in functions if function.is_kernel]
    templates = {f.name.text: f for f in kernels if f.head and f.head[0].text == "template"}
    named = {
        "::".join([*filter(None, f.namespaces), f.name.text])
        for f in kernels
        if f.name.text not in templates and ("" in f.namespaces or any(t.text == "static" for t in f.head))
    }
    tokens = lexed.tokens
    for index, token in enumerate(tokens[:-1]):
        if token.text in templates and tokens[index + 1].text == "<":
            end = closing_angle(tokens, index + 1)
            if end is not None and end + 1 < len(tokens) and tokens[end + 1].text == "<<<":
                path = filter(None, templates[token.text].namespaces)
                named.add("::".join([*path, flatten(tokens[index : end + 1])]))
    return named


def _blanked(text: str, extents: Iterable[tuple[int, int]]) -> str:
    characters = list(text)
    for begin, end in extents:
        characters[begin:end] = [c if c == "\n" else " " for c in text[begin:end]]
    return "".join(characters)

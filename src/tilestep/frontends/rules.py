"""What a submission may not contain, each refused with its line and the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import tilestep.emulator
from tilestep.frontends.structure import Structure
from tilestep.frontends.tokens import Directive, Lexed, Token, closing, words
from tilestep.program import SubmissionError

STANDARD_HEADERS = words(
    "cmath math.h cstdint stdint.h inttypes.h cinttypes cstddef stddef.h climits limits.h cfloat "
    "float.h limits cstring string.h cstdlib stdlib.h cstdio stdio.h cassert assert.h cerrno errno.h "
    "cstdarg stdarg.h stdbool.h algorithm array vector tuple utility type_traits numeric functional "
    "initializer_list iterator memory new optional variant string string_view complex ratio bitset "
    "map set unordered_map unordered_set deque list queue stack exception stdexcept typeinfo iostream "
    "ostream istream iomanip sstream cctype ctype.h version concepts bit span numbers compare"
)
# Said with every target: what is judged on a GPU is recorded on the emulator first.
NOT_RUN = "not run by the emulator, which also records a GPU's launches"
_OWN_WORDS = ("tilestep", "__tilestep", "_tilestep", "TILESTEP", "__tsan", "__SANITIZE", "thread_sanitizer")
# A compiler's own functions that read memory which it then does not report.
_UNSEEN = ("__builtin_mem", "__builtin_str", "__builtin_bcopy", "__builtin_ia32", "__builtin_nontemporal")
_HALVES = re.compile(r"#(?:\s|\\\n)*(\w+)(?:\\\n)+(\w+)")  # of a directive's name
_HEADER_ENDS = {"<": ">", '"': '"'}
_ASSEMBLY = frozenset({"asm", "__asm__", "__asm"})
_ATTRIBUTES = words(
    "constructor destructor section ifunc alias weakref no_sanitize no_sanitize_thread "
    "no_sanitize_address no_sanitize_undefined no_instrument_function "
    "disable_sanitizer_instrumentation optimize target target_clones naked init_priority"
)
_PRAGMAS = {  # first words of pragmas that change how a file is compiled
    "GCC": words("optimize target push_options pop_options reset_options poison visibility system_header"),
    "clang": words("optimize attribute fp system_header section force_cuda_host_device"),
    "": words("redefine_extname weak push_macro pop_macro float_control fenv_access"),
}
_QUALIFIERS = words("__global__ __device__ __host__ __shared__ __constant__")
_HEADERS_OF_ACTIONS = {
    "thread": "starts threads", "pthread.h": "starts threads", "future": "starts threads",
    "mutex": "is for threads",
    "condition_variable": "is for threads", "semaphore": "is for threads", "atomic": "is for threads",
    "fstream": "opens files", "filesystem": "opens files", "fcntl.h": "opens files",
    "unistd.h": "reaches the system",
    "chrono": "reads a clock", "ctime": "reads a clock", "time.h": "reads a clock",
    "sys/time.h": "reads a clock",
    "dlfcn.h": "loads libraries", "sys/mman.h": "maps memory", "signal.h": "handles signals",
    "csignal": "handles signals", "sys/socket.h": "opens sockets", "random": "makes a run unrepeatable",
}  # fmt: skip


def include_folder() -> Path:
    """Where the emulator keeps the CUDA headers that it knows."""
    return Path(tilestep.emulator.__file__).parent / "include"


def check_rules(lexed: Lexed, structure: Structure, file: str) -> None:
    """Raise SubmissionError for the first line that breaks a rule: includes, pragmas, names, assembly."""
    faults = list(word_faults(lexed))
    faults += [
        (
            function.name.line,
            "a submission has no main: tilestep brings its own and calls the step's function",
        )
        for function in structure.functions
        if function.name.text == "main" and not function.namespaces and function.name.conditions == 0
    ]
    if faults:
        line, says = min(faults)
        raise SubmissionError(says, file=file, line=line)


def word_faults(lexed: Lexed) -> Iterator[tuple[int, str]]:
    """(line, sentence) of every token and every preprocessor line that no submission may hold."""
    for directive in lexed.directives:
        if not directive.dead:
            yield from _directive_faults(lexed, directive)
            if halves := _HALVES.match(lexed.text, directive.start, directive.end):
                yield directive.line, _broken_word("".join(halves.groups()))
    for tokens in (lexed.tokens, *(d.tokens for d in lexed.directives if not d.dead)):
        yield from _token_faults(tokens)
        yield from _hidden_faults(lexed.text, tokens)


def include_name(lexed: Lexed, directive: Directive) -> str:
    """The header that an #include names; "" where a macro would name it, or nothing does."""
    text = lexed.text[directive.tokens[0].start : directive.end].strip() if directive.tokens else ""
    end = _HEADER_ENDS.get(text[:1])
    return text[1 : text.index(end, 1)].strip() if end and end in text[1:] else ""


def _directive_faults(lexed: Lexed, directive: Directive) -> Iterator[tuple[int, str]]:
    first = directive.tokens[0].text if directive.tokens else ""
    second = directive.tokens[1].text if len(directive.tokens) > 1 else ""
    if directive.name == "include":
        if says := _include_fault(lexed, directive):
            yield directive.line, says
    elif directive.name in ("include_next", "import", "embed"):
        yield directive.line, f"#{directive.name} is not allowed; a submission is one file"
    elif directive.name == "line" or directive.name.isdigit():
        yield directive.line, "#line would hide which line a finding is about; remove it"
    elif directive.name == "pragma":
        words = _PRAGMAS.get(first)
        if (words is not None and second in words) or first in _PRAGMAS[""]:
            what = f"{first} {second}" if words is not None else first
            yield directive.line, f"#pragma {what} changes how the file is compiled; a submission may not"
    elif directive.name in ("define", "undef") and directive.conditions == 0 and first in _QUALIFIERS:
        yield directive.line, f"{first} is CUDA's own word and cannot be redefined"


def _include_fault(lexed: Lexed, directive: Directive) -> str | None:
    name = include_name(lexed, directive)
    if not name:
        return "an #include must name its header"
    if name in STANDARD_HEADERS or _is_cuda_header(name):
        return None
    if directive.tokens[0].text[0] == '"':
        return f'#include "{name}": a submission is one file; put what it needs into it'
    if name in _HEADERS_OF_ACTIONS:
        return f"#include <{name}>: it {_HEADERS_OF_ACTIONS[name]}, and a seam only launches kernels"
    if name.startswith(
        ("cuda", "cub/", "thrust/", "cutlass", "cute", "cublas", "cudnn", "mma", "curand", "cooperative")
    ):
        return f"#include <{name}>: this CUDA header is {NOT_RUN}"
    return f"#include <{name}>: not among the headers that a submission may include"


def _is_cuda_header(name: str) -> bool:
    parts = Path(name).parts
    if not parts or ".." in parts or parts[0] in ("tilestep", "/") or not name.isprintable():
        return False
    return (include_folder() / name).is_file()


def _token_faults(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if token.text.startswith(_OWN_WORDS):
            yield token.line, f"{token.text}: names that begin with tilestep or __tsan are the emulator's own"
        elif token.text.startswith(_UNSEEN):
            yield token.line, f"{token.text} is the host compiler's own; write it in CUDA C++"
        elif token.text in _ASSEMBLY:
            yield token.line, f"inline assembly (PTX) is {NOT_RUN}; write it in CUDA C++"
        elif token.text in ("__attribute__", "__declspec") and following == "(":
            yield from _attribute_faults(tokens[index + 1 : closing(tokens, index + 1)])
        elif token.text in ("gnu", "clang") and following == "::":
            yield from _attribute_faults(tokens[index + 2 : index + 3])
        elif token.text == "_Pragma" and following == "(":
            words = [word for t in tokens[index + 2 : index + 3] for word in t.text.strip('LuU8R"()').split()]
            if len(words) > 1 and words[1] in _PRAGMAS.get(words[0], ()):
                says = f"_Pragma {words[0]} {words[1]} changes how the file is compiled; a submission may not"
                yield token.line, says


def _hidden_faults(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Spellings that the compiler puts together and a reader may not: %: for #, and words in two halves."""
    for one, other in pairwise(tokens):
        between = text[one.end : other.start]
        if between.replace("\\\n", ""):
            continue
        if one.text == "%" and other.text == ":":
            yield one.line, "%: is another spelling of #; write #"
        elif between and one.kind == other.kind == "name":
            yield one.line, _broken_word(one.text + other.text)


def _broken_word(word: str) -> str:
    return f"the word {word} is broken over two lines; write it in one"


def _attribute_faults(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    for token in tokens:
        if token.text.strip("_") in _ATTRIBUTES:
            yield (
                token.line,
                f"the attribute {token.text} changes how or when code runs; a submission may not use it",
            )

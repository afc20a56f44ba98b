"""CUDA C++ cut into tokens, with the preprocessor's lines apart.

Strings, comments and raw strings are never mistaken for code; what `#if 0` hides is left out. The lexer takes
any text: whether it is right C++ is for the compiler to say.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from tilestep.program import SubmissionError

_PREFIX = r"(?:u8|[uUL])?"
_PATTERN = re.compile(
    r"(?P<newline>\n)"
    r"|(?P<space>(?:[^\S\n]|\\\n)+)"
    r"|(?P<line_comment>//(?:\\\n|[^\n])*)"
    r"|(?P<comment>/\*.*?\*/)"
    r"|(?P<open_comment>/\*)"
    rf'|(?P<raw>{_PREFIX}R"(?P<fence>[^()\\\s"]{{0,16}})\(.*?\)(?P=fence)")'
    rf'|(?P<open_raw>{_PREFIX}R"[^()\\\s"]{{0,16}}\()'
    rf'|(?P<string>{_PREFIX}"(?:\\.|[^"\\\n])*")'
    rf"|(?P<char>{_PREFIX}'(?:\\.|[^'\\\n])*')"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<name>(?:[^\W\d]|\$)[\w$]*)"
    r"|(?P<punct><<<|<<=|>>=|<=|>=|->|::|\.\.\.|&&|\|\||==|!=|[-+*/%&|^]=|\+\+|--|<<|\#\#|.)",
    re.DOTALL,
)
# A file beyond these is made to exhaust its reader, who may look at a statement once for each of its words.
MOST_TOKENS = 200_000
DEEPEST = 256  # brackets, or #if, in each other
LONGEST_STATEMENT = 1024  # words and signs between ; { and }, without what a table of numbers is made of
_OF_TABLES = frozenset(",+-.")
_LONGEST_LIST = 256  # tokens of a template's arguments, what stands in brackets not counted
_NEVER = -1
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_CONDITIONS = ("if", "ifdef", "ifndef")
_START = attrgetter("start")
_LINE_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is name, number, string, char or punct. `>` is always alone: `>>>` can close templates too."""

    kind: str
    text: str
    start: int
    end: int
    line: int
    conditions: int = 0  # how many #if enclose it
    closed_at: int = _NEVER  # of an opening bracket: where the one that closes it starts


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor line with its continuation lines; `tokens` are what follows the directive's name."""

    name: str
    tokens: tuple[Token, ...]
    start: int
    end: int
    line: int
    conditions: int
    dead: bool = False  # hidden by #if 0


@dataclass(frozen=True)
class Macro:
    """A #define. `parameters` is None for an object-like macro."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    line: int


@dataclass(frozen=True)
class Lexed:
    """The code tokens and, apart from them, the directives: both in the order of the text."""

    text: str
    tokens: tuple[Token, ...]
    directives: tuple[Directive, ...]

    def macros(self) -> list[Macro]:
        return self._macros

    @functools.cached_property
    def _macros(self) -> list[Macro]:
        return [macro for d in self.directives if not d.dead and (macro := _macro_of(d)) is not None]


def lex(text: str, file: str = "", *, renumbered: bool = False) -> Lexed:
    """Cut `text` into tokens. Raises SubmissionError for a comment that never ends.

    In a `renumbered` text, one of ours, a #line says which number the next line has.
    """
    lexer = _Lexer(text, file, renumbered)
    lexer.run()
    return Lexed(text, tuple(lexer.tokens), tuple(lexer.directives))


class _Lexer:
    def __init__(self, text: str, file: str, renumbered: bool) -> None:
        self.text = text
        self.file = file
        self.renumbered = renumbered
        self.tokens: list[Token] = []
        self.directives: list[Directive] = []
        self.line = 1
        self.branches: list[bool | None] = []  # one entry an open #if: is this branch dead (None: who knows)?
        self.open: list[Token] = []  # brackets, of the code alone
        self.read = 0  # tokens, directives' too
        self.statement = 0  # tokens of the one that is being read

    def run(self) -> None:
        hash_token: Token | None = None  # the directive that is being read
        inside: list[Token] = []
        line_is_blank = True
        for match in _PATTERN.finditer(self.text):
            kind = match.lastgroup if match.lastgroup != "fence" else "raw"
            if kind == "newline":
                if hash_token is not None:
                    self._directive(hash_token, inside, match.start())
                    hash_token, inside = None, []
                line_is_blank = True
            elif kind in ("open_comment", "open_raw"):
                what = "comment" if kind == "open_comment" else "raw string"
                raise self._error(f"this {what} never ends", "broken")
            elif kind not in ("space", "line_comment", "comment"):
                text = match.group()
                token_kind = "string" if kind == "raw" else str(kind)
                token = Token(token_kind, text, match.start(), match.end(), self.line, len(self.branches))
                self.read += 1
                if self.read > MOST_TOKENS:
                    raise self._error(f"the file goes on after {MOST_TOKENS:,} words and signs, the most")
                if hash_token is not None:
                    inside.append(token)
                elif text == "#" and line_is_blank:
                    hash_token = token
                elif True not in self.branches:
                    self.tokens.append(token)
                    self._place(token, self.open)
                line_is_blank = False
            self.line += match.group().count("\n")
        if hash_token is not None:
            self._directive(hash_token, inside, len(self.text))

    def _place(self, token: Token, opened: list[Token]) -> None:
        """Tells the opening bracket of a closing one where it is closed. Any kind closes any other."""
        if token.text in ";{}":
            self.statement = 0
        elif token.kind in ("name", "punct") and token.text not in _OF_TABLES:
            self.statement += 1
            if self.statement > LONGEST_STATEMENT:
                says = f"a statement has more than {LONGEST_STATEMENT:,} words and signs; cut it in pieces"
                raise self._error(says)
        if token.text in _OPENING:
            opened.append(token)
            if len(opened) > DEEPEST:
                raise self._error(f"brackets stand more than {DEEPEST} deep in each other")
        elif token.text in _CLOSING and opened:
            object.__setattr__(opened.pop(), "closed_at", token.start)

    def _error(self, says: str, outcome: str = "refused") -> SubmissionError:
        return SubmissionError(says, file=self.file, line=self.line, outcome=outcome)

    def _directive(self, hash_token: Token, tokens: list[Token], end: int) -> None:
        name = tokens[0].text if tokens else ""
        opened: list[Token] = []
        around, self.statement = self.statement, 0
        for token in tokens:
            self._place(token, opened)
        self.statement = around
        if name in _CONDITIONS:
            if len(self.branches) == DEEPEST:
                raise self._error(f"#if stands more than {DEEPEST} deep in each other")
            value = tokens[1].text if name == "if" and len(tokens) == 2 else ""
            self.branches.append(
                True if value in ("0", "false") else False if value in ("1", "true") else None
            )
        elif name == "else" and self.branches:
            last = self.branches[-1]
            self.branches[-1] = None if last is None else not last
        elif name == "elif" and self.branches:
            self.branches[-1] = self.branches[-1] is False or None
        elif name == "endif" and self.branches:
            self.branches.pop()
        elif (
            name == "line" and self.renumbered and len(tokens) > 1 and _LINE_NUMBER.fullmatch(tokens[1].text)
        ):
            self.line = (
                int(tokens[1].text) - 1
            )  # of the next line, which the line feed behind this one begins
        self.directives.append(
            Directive(
                name=name,
                tokens=tuple(tokens[1:]),
                start=hash_token.start,
                end=end,
                line=hash_token.line,
                conditions=len(self.branches),
                dead=True in self.branches,
            )
        )


def _macro_of(directive: Directive) -> Macro | None:
    tokens = directive.tokens
    if directive.name != "define" or not tokens or tokens[0].kind != "name":
        return None
    name, rest = tokens[0], tokens[1:]
    # A function-like macro has its parenthesis directly behind its name.
    if not rest or rest[0].text != "(" or rest[0].start != name.end:
        return Macro(name.text, None, rest, directive.line)
    parameters: list[str] = []
    for position, token in enumerate(rest):
        if token.text == ")":
            return Macro(name.text, tuple(parameters), rest[position + 1 :], directive.line)
        if token.text == "...":
            parameters.append("__VA_ARGS__")
        elif token.kind == "name":
            parameters.append(token.text)
    return None


def words(text: str) -> frozenset[str]:
    """A set of words, written as a sentence is."""
    return frozenset(text.split())


def flatten(tokens: Sequence[Token]) -> str:
    """The tokens on one line, comments dropped, spaced as they were."""
    parts: list[str] = []
    for position, token in enumerate(tokens):
        if position and tokens[position - 1].end != token.start:
            parts.append(" ")
        parts.append(token.text)
    return "".join(parts)


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The index of the bracket that closes the one at `opening`; len(tokens) if none does.

    The tokens are in the order of the text, but some may have been left out.
    """
    wanted = tokens[opening].closed_at
    if wanted == _NEVER:
        return len(tokens)
    at = bisect_left(tokens, wanted, lo=opening, key=_START)
    return at if at < len(tokens) and tokens[at].start == wanted else len(tokens)


def closing_angle(tokens: Sequence[Token], opening: int) -> int | None:
    """The index of the `>` that closes the template list opened at `opening`; None if it is no such list."""
    depth = 0
    index = opening
    for _ in range(_LONGEST_LIST):
        if index >= len(tokens):
            return None
        text = tokens[index].text
        if text in _OPENING:
            index = closing(tokens, index)
        elif text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return index
        elif text in (";", ")", "]", "}"):
            return None
        index += 1
    return None

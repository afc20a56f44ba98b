"""One C++ declaration taken apart: specifiers, then declarators with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilestep.frontends.structure import ATTRIBUTE_CALLS
from tilestep.frontends.tokens import Token, closing, closing_angle, flatten, words

_QUALIFIERS = words("const volatile mutable typename constexpr inline __restrict__ __restrict restrict")
BUILTIN_TYPES = words(
    "void bool char short int long signed unsigned float double wchar_t char16_t char32_t auto"
)
_CLASS_WORDS = words("struct class union enum")


@dataclass(frozen=True)
class Declarator:
    """`prefix`: pointer operators; `bounds`: array bounds as written; `tokens`: all but an initialiser."""

    name: Token
    tokens: tuple[Token, ...]
    prefix: tuple[Token, ...]
    bounds: tuple[tuple[Token, ...], ...]
    initialised: bool
    function: bool  # a parenthesis follows the name: a prototype, or a constructor's arguments
    grouped: bool  # the name stands in parentheses: a pointer or reference to an array or a function


@dataclass(frozen=True)
class Declaration:
    """`defined` is the class that the declaration defines on the way (`struct S {...} s;`), else empty."""

    specifiers: tuple[Token, ...]
    defined: tuple[Token, ...]
    declarators: tuple[Declarator, ...]

    def type_text(self, name_for_unnamed: str) -> str:
        """The type without what it defines: `S` for `struct S {...}`."""
        return flatten(self.specifiers) if not self.defined else self._with_name(name_for_unnamed)

    def definition_text(self, name_for_unnamed: str) -> str:
        """The class that the declaration defines, as a statement; else nothing."""
        if not self.defined:
            return ""
        text = flatten(self.defined)
        if self._defined_name is None:
            keyword = self.defined[0].text
            text = f"{keyword} {name_for_unnamed} {text[len(keyword) :].lstrip()}"
        return text + "; "

    @property
    def _defined_name(self) -> str | None:
        return next(
            (t.text for t in self.defined[1:2] if t.kind == "name" and t.text not in ATTRIBUTE_CALLS), None
        )

    def _with_name(self, name_for_unnamed: str) -> str:
        return " ".join(filter(None, (flatten(self.specifiers), self._defined_name or name_for_unnamed)))


def parse(tokens: Sequence[Token]) -> Declaration | None:
    """Take a declaration (without its `;` and storage words) apart; None if it does not read as one."""
    specifiers, defined, rest = _specifiers(tokens)
    if not rest or not (specifiers or defined):
        return None
    declarators: list[Declarator] = []
    for part in split_commas(rest):
        declarator = _declarator(part)
        if declarator is None:
            return None
        declarators.append(declarator)
    return Declaration(tuple(specifiers), tuple(defined), tuple(declarators))


def split_commas(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Cut at the commas that no bracket encloses."""
    parts: list[Sequence[Token]] = []
    begin = index = 0
    while index < len(tokens):
        if tokens[index].text in ("(", "[", "{"):
            index = closing(tokens, index)
        elif tokens[index].text == ",":
            parts.append(tokens[begin:index])
            begin = index + 1
        index += 1
    parts.append(tokens[begin:])
    return parts


def _specifiers(tokens: Sequence[Token]) -> tuple[list[Token], list[Token], Sequence[Token]]:
    """(specifiers, class definition, the rest). The first name behind a complete type starts the rest."""
    specifiers: list[Token] = []
    defined: list[Token] = []
    have_type = False
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if text == "[" and following == "[":
            end = closing(tokens, at) + 1
        elif following == "(" and (text in ATTRIBUTE_CALLS or _is_attribute_macro(tokens, at)):
            end = closing(tokens, at + 1) + 1
            have_type = have_type or text in ("decltype", "typeof", "__typeof__")
        elif text in _QUALIFIERS:
            end = at + 1
        elif text in _CLASS_WORDS:
            end, body = _class_head(tokens, at)
            have_type = True
            if body:
                defined = list(tokens[at:end])
                at = end
                continue
        elif text in BUILTIN_TYPES:
            end, have_type = at + 1, True
        elif (tokens[at].kind == "name" or text == "::") and not (
            have_type and _starts_declarator(tokens, at)
        ):
            if tokens[at].kind == "name" and not have_type and _starts_declarator(tokens, at):
                break
            end, have_type = qualified_name(tokens, at), True
        else:
            break
        specifiers += tokens[at:end]
        at = end
    return specifiers, defined, tokens[at:]


def _is_attribute_macro(tokens: Sequence[Token], at: int) -> bool:
    """`NAME (...)` with another name directly behind it."""
    if tokens[at].kind != "name":
        return False
    behind = closing(tokens, at + 1) + 1
    return behind < len(tokens) and tokens[behind].kind == "name"


def _starts_declarator(tokens: Sequence[Token], at: int) -> bool:
    """Is this name the declared one? It is, unless more of a type follows it."""
    behind = at + 1
    while (
        behind + 1 < len(tokens) and tokens[behind].text in ATTRIBUTE_CALLS and tokens[behind + 1].text == "("
    ):
        behind = closing(tokens, behind + 1) + 1
    if behind >= len(tokens):
        return True
    following = tokens[behind]
    return following.kind != "name" and following.text not in ("::", "<", "*", "&", "&&")


def qualified_name(tokens: Sequence[Token], at: int) -> int:
    """One past `::a::b<...>::c` that starts at `at`."""
    while at < len(tokens):
        if tokens[at].text == "::" or tokens[at].text == "template":
            at += 1
            continue
        if tokens[at].kind != "name":
            return at
        at += 1
        if at < len(tokens) and tokens[at].text == "<":
            end = closing_angle(tokens, at)
            if end is None:
                return at
            at = end + 1
        if at >= len(tokens) or tokens[at].text != "::":
            return at
    return at


def _class_head(tokens: Sequence[Token], at: int) -> tuple[int, bool]:
    """One past `struct S` or `struct S {...}`, and whether there is a body."""
    end = at + 1
    while end < len(tokens) and tokens[end].text in ATTRIBUTE_CALLS and tokens[end + 1 : end + 2]:
        end = closing(tokens, end + 1) + 1
    if end < len(tokens) and (tokens[end].kind == "name" or tokens[end].text == "::"):
        end = qualified_name(tokens, end)
    behind = end
    while behind < len(tokens) and tokens[behind].text not in ("{", "[", "(", "=", ",", ";"):
        behind += 1
    if behind < len(tokens) and tokens[behind].text == "{" and (behind == end or tokens[end].text == ":"):
        return min(closing(tokens, behind) + 1, len(tokens)), True
    return end, False


def _declarator(tokens: Sequence[Token]) -> Declarator | None:
    at = 0
    while at < len(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if tokens[at].text in ATTRIBUTE_CALLS and following == "(":
            at = closing(tokens, at + 1) + 1
        elif tokens[at].text in ("*", "&", "&&", "...") or tokens[at].text in _QUALIFIERS:
            at += 1
        else:
            break
    if at >= len(tokens):
        return None
    prefix = tuple(tokens[:at])
    grouped = tokens[at].text == "("
    if grouped:
        end = closing(tokens, at)
        names = [token for token in tokens[at:end] if token.kind == "name" and token.text not in _QUALIFIERS]
        if not names:
            return None
        name, at = names[-1], end + 1
    elif tokens[at].kind == "name":
        name, at = tokens[at], at + 1
    else:
        return None
    bounds: list[tuple[Token, ...]] = []
    function = False
    while at < len(tokens):
        text = tokens[at].text
        if text == "[":
            end = closing(tokens, at)
            bounds.append(tuple(tokens[at + 1 : end]))
        elif text == "(" and not function:
            function, end = True, closing(tokens, at)
        elif text in ATTRIBUTE_CALLS and at + 1 < len(tokens) and tokens[at + 1].text == "(":
            end = closing(tokens, at + 1)
        elif text in ("=", "{"):
            return Declarator(name, tuple(tokens[:at]), prefix, tuple(bounds), True, function, grouped)
        else:
            return None
        at = end + 1
    return Declarator(name, tuple(tokens), prefix, tuple(bounds), False, function, grouped)

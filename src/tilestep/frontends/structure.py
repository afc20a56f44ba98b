"""The shape of a file: its scopes, functions and lambdas, found from tokens alone.

A full grammar is not needed, and stands in the way: a file that a grammar cannot read (macros, exotic
attributes) may still be a fine kernel. What is found here decides where a rewrite goes, never whether the C++
is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilestep.frontends.tokens import Directive, Lexed, Token, closing, closing_angle, flatten, words

# Names that a parenthesis may follow in the head of a function without being its name.
ATTRIBUTE_CALLS = words(
    "__launch_bounds__ __attribute__ __align__ __builtin_align__ __declspec __maxnreg__ "
    "__cluster_dims__ alignas decltype noexcept throw requires explicit typeof __typeof__ "
    "__block_size__ if while for switch"
)
# Names that end an expression's left neighbour: what follows them starts anew.
STATEMENT_WORDS = words(
    "return else do case throw co_return goto new delete typedef using sizeof in and or not"
)


@dataclass
class Scope:
    """A pair of braces. `kind` is file, namespace, linkage, class, function, initialiser or block."""

    kind: str
    name: str
    opening: int  # token index of `{`; -1 for the file
    parent: Scope | None
    closing: int = 0  # token index of `}`, or the number of tokens
    head: int = 0  # first token of the running statement

    @property
    def at_namespace_level(self) -> bool:
        return self.kind in ("file", "namespace", "linkage")


@dataclass
class Function:
    """A function definition. `head` are the tokens in front of its name."""

    name: Token
    head: tuple[Token, ...]
    parameters: tuple[Token, ...]
    scope: Scope  # its body
    namespaces: tuple[str, ...]  # "" for an anonymous one; a class counts too

    @property
    def is_kernel(self) -> bool:
        return any(token.text == "__global__" for token in self.head)


@dataclass
class Lambda:
    opening: int  # token index of the `{` of its body
    closing: int
    parameters: tuple[Token, ...]


@dataclass
class Structure:
    """`scope_of[i]` is the innermost scope around token i."""

    lexed: Lexed
    scope_of: list[Scope] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    lambdas: list[Lambda] = field(default_factory=list)
    unclosed: Token | None = None  # the last brace, parenthesis or bracket that nothing closes


def analyse(lexed: Lexed) -> Structure:
    """Find scopes, functions and lambdas. Takes any tokens; unbalanced ones give a best guess."""
    return _Analyser(lexed).run()


class _Analyser:
    def __init__(self, lexed: Lexed) -> None:
        self.tokens = lexed.tokens
        self.found = Structure(lexed)
        self.file = Scope("file", "", -1, None, closing=len(lexed.tokens))
        self.stack: list[tuple[str, int, Scope]] = []  # bracket, its token, the scope that it is in
        self.scope = self.file
        self.saved: list[tuple[list[tuple[str, int, Scope]], Scope, int]] = []

    def run(self) -> Structure:
        directives = iter(self.found.lexed.directives)
        coming = next(directives, None)
        for index, token in enumerate(self.tokens):
            while coming is not None and coming.start < token.start:
                self._directive(coming, index)
                coming = next(directives, None)
            if token.kind == "punct":
                self._punctuation(index, token.text)
            self.found.scope_of.append(self.scope)
        if self.stack:
            self.found.unclosed = self.tokens[self.stack[-1][1]]
        for bracket, _, _ in self.stack:
            if bracket == "{":
                self.scope.closing = len(self.tokens)
        self.found.lambdas = sorted(_lambdas(self.tokens), key=lambda found: found.opening)
        return self.found

    def _directive(self, directive: Directive, index: int) -> None:
        """Each branch of an #if starts from where the #if stood, so that alternative heads do not add up."""
        if directive.name in ("if", "ifdef", "ifndef"):
            self.saved.append((list(self.stack), self.scope, self.scope.head))
        elif directive.name in ("else", "elif") and self.saved:
            stack, self.scope, head = self.saved[-1]
            self.stack = list(stack)
            self.scope.head = index if head < index else head
        elif directive.name == "endif" and self.saved:
            self.saved.pop()

    def _punctuation(self, index: int, text: str) -> None:
        if text in "([":
            self.stack.append((text, index, self.scope))
        elif text in ")]":
            self._close("(" if text == ")" else "[")
        elif text == "{":
            self.scope = self._open_brace(index)
        elif text == "}":
            self._close_brace(index)
        elif not self.stack or self.stack[-1][0] == "{":
            access = text == ":" and self.tokens[index - 1].text in ("public", "private", "protected")
            if text == ";" or access:
                self.scope.head = index + 1

    def _close(self, bracket: str) -> None:
        for depth in range(len(self.stack) - 1, -1, -1):
            if self.stack[depth][0] == bracket:
                del self.stack[depth:]
                return
            if self.stack[depth][0] == "{":
                return

    def _open_brace(self, index: int) -> Scope:
        in_parentheses = bool(self.stack) and self.stack[-1][0] != "{"
        self.stack.append(("{", index, self.scope))
        parent = self.scope
        scope = Scope("block", "", index, parent, closing=len(self.tokens), head=index + 1)
        if in_parentheses or not (parent.at_namespace_level or parent.kind == "class"):
            return scope
        head = self.tokens[parent.head : index]
        scope.kind, scope.name = _kind_of(head)
        if scope.kind == "function":
            self._function(head, scope)
        return scope

    def _close_brace(self, index: int) -> None:
        for depth in range(len(self.stack) - 1, -1, -1):
            if self.stack[depth][0] == "{":
                self.scope.closing = index
                ended = self.scope
                self.scope = self.stack[depth][2]
                del self.stack[depth:]
                if ended.kind not in ("initialiser", "class"):
                    self.scope.head = index + 1
                return

    def _function(self, head: Sequence[Token], scope: Scope) -> None:
        at = name_position(head)
        if at is None:
            scope.kind = "block"
            return
        path: list[str] = []
        around = scope.parent
        while around is not None:
            if around.kind in ("namespace", "class"):
                path.append(around.name)
            around = around.parent
        end = closing(head, at + 1)
        self.found.functions.append(
            Function(
                name=head[at],
                head=tuple(head[:at]),
                parameters=tuple(head[at + 2 : end]),
                scope=scope,
                namespaces=tuple(reversed(path)),
            )
        )


def _kind_of(head: Sequence[Token]) -> tuple[str, str]:
    """What the braces behind these tokens are, and their name."""
    head = _without_template(head)
    words = [token.text for token in head]
    if words[:1] == ["namespace"] or words[:2] == ["inline", "namespace"]:
        return "namespace", flatten(head[words.index("namespace") + 1 :])
    if len(words) == 2 and words[0] == "extern" and head[1].kind == "string":
        return "linkage", ""
    top = _top_level(head)
    if "=" in top and "operator" not in top:
        return "initialiser", ""
    if name_position(head) is not None:
        return "function", ""
    for keyword in ("class", "struct", "union", "enum"):
        if keyword in top:
            names = [token.text for token in head if token.kind == "name"]
            return "class", names[-1] if names[-1:] != [keyword] else ""
    return "initialiser", ""


def _without_template(head: Sequence[Token]) -> Sequence[Token]:
    while len(head) > 1 and head[0].text == "template" and head[1].text == "<":
        end = closing_angle(head, 1)
        if end is None:
            return head
        head = head[end + 1 :]
    return head


def _top_level(head: Sequence[Token]) -> list[str]:
    """The texts outside all parentheses and brackets."""
    texts: list[str] = []
    index = 0
    while index < len(head):
        texts.append(head[index].text)
        index = closing(head, index) + 1 if head[index].text in ("(", "[") else index + 1
    return texts


def name_position(head: Sequence[Token]) -> int | None:
    """Where a function head has its name: the last `name (` that is no attribute, before `:` or `->`."""
    found: int | None = None
    index = 0
    while index < len(head):
        text = head[index].text
        if text == "(":
            before = head[index - 1] if index else None
            if before is not None and before.kind == "name" and before.text not in ATTRIBUTE_CALLS:
                found = index - 1
            index = closing(head, index)
        elif text in (":", "->") and found is not None:
            break
        index += 1
    return found


def _lambdas(tokens: Sequence[Token]) -> list[Lambda]:
    """Every lambda expression: `[` where no array can be indexed, up to the braces of its body."""
    found: list[Lambda] = []
    for index, token in enumerate(tokens):
        if token.text != "[" or token.kind != "punct" or (index and _ends_operand(tokens[index - 1])):
            continue
        at = closing(tokens, index) + 1
        parameters: tuple[Token, ...] = ()
        if at < len(tokens) and tokens[at].text == "(":
            end = closing(tokens, at)
            parameters = tuple(tokens[at + 1 : end])
            at = end + 1
        while at < len(tokens) and (
            tokens[at].kind == "name" or tokens[at].text in ("->", "::", "*", "&", "<", ">")
        ):
            at += 1
        if at < len(tokens) and tokens[at].text == "{":
            found.append(Lambda(at, closing(tokens, at), parameters))
    return found


def _ends_operand(token: Token) -> bool:
    if token.kind == "name":
        return token.text not in STATEMENT_WORDS
    return token.kind in ("number", "string", "char") or token.text in (")", "]")

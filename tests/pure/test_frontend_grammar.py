"""The token-level reading against an independent one: tree-sitter's CUDA grammar, where it reads a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tilestep.frontends.structure import analyse
from tilestep.frontends.tokens import lex

tree_sitter = pytest.importorskip("tree_sitter", reason="an oracle of the tests only")
tree_sitter_cuda = pytest.importorskip("tree_sitter_cuda", reason="an oracle of the tests only")

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "src").rglob("*.cu"), *(ROOT / "tests").rglob("*.cu")])


def nodes(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def test_the_grammar_sees_the_same_launches_and_kernels() -> None:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
    read = 0
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        root = parser.parse(text.encode()).root_node
        if root.has_error:
            continue  # valid CUDA that the grammar does not know: `__shared__ __align__(16) float a[4]`
        read += 1
        found = list(nodes(root))
        launches = sorted(n.start_point[0] + 1 for n in found if n.type == "kernel_call_syntax")
        heads = [n.text.split(b"{")[0] for n in found if n.type == "function_definition"]
        lexed = lex(text)
        kernels = [f.name.text for f in analyse(lexed).functions if f.is_kernel]
        assert [t.line for t in lexed.tokens if t.text == "<<<"] == launches, path
        assert len(kernels) == sum(b"__global__" in head for head in heads), path
        assert all(any(name.encode() in head for head in heads) for name in kernels), path
    assert read > len(FILES) // 2

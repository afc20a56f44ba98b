"""Every line of a submission keeps its number, and every line without CUDA's own syntax keeps its text."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilestep.contract import PROJECTION, STEP, STEPS
from tilestep.frontends.cuda import rewrite, translate
from tilestep.frontends.reading import read_source
from tilestep.frontends.structure import analyse
from tilestep.frontends.tokens import lex
from tilestep.program import SubmissionError

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("src/tilestep/kernels", "tests/wrong", "tests/right", "tests/emulated/cu")
    for path in (ROOT / folder).rglob("*.cu")
)
REFUSED = ("synchronise", "read-back", "own-stream")  # by name: what the seam of a wrong kernel does
CUDA_WORDS = ("<<<", ">>>", "__shared__", "__device__", "__constant__", "SMEM", "NULL", "pool", "scratch")


def unmarked(text: str) -> str:
    """Without what every kernel begins with: it stands on a line that is otherwise a submission's own."""
    return re.sub(r" TILESTEP_ENTER\([^()]*\)", "", text)


def rewritten(text: str) -> str:
    lexed = lex(text, "a.cu")
    return unmarked(rewrite(lexed, analyse(lexed), "a.cu"))


def changed_lines(before: str, after: str) -> list[int]:
    """Which lines differ; fails unless there are as many as before."""
    old, new = before.split("\n"), after.split("\n")
    assert len(old) == len(new)
    return [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_lines_of_every_kernel_of_the_repository_stay(path: Path) -> None:
    source = read_source(path)
    lexed = lex(source.text)
    got = unmarked(rewrite(lexed, analyse(lexed), ""))
    lines = source.text.split("\n")
    for number in changed_lines(source.text, got):
        assert any(word in lines[number] for word in CUDA_WORDS) or path.stem == "exotic", lines[number]
    assert got.count("::tilestep::configure(") == sum(token.text == "<<<" for token in lexed.tokens) + sum(
        token.text == "<<<" for macro in lexed.macros() for token in macro.body
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_kernel_of_the_repository_is_taken_or_refused_for_what_its_seam_does(path: Path) -> None:
    source = read_source(path)
    step = next(
        (step for step in (*STEPS, PROJECTION) if step.seam.function in source.text), STEP["online-attention"]
    )
    if any(word in path.stem for word in REFUSED):
        with pytest.raises(SubmissionError, match=r"\.cu:\d+: cuda\w+: a seam must not"):
            translate(source, step)
    else:
        program = translate(source, step)
        assert program.kernels
        assert program.source.startswith(f'#line 1 "{path}"\n')


def test_there_are_kernels_to_look_at() -> None:
    assert len(FILES) > 50


SNIPPETS = st.sampled_from(
    [
        "k<<<1, 2>>>(x);",
        "k<float,\n  4>\n  <<<grid,\n  (n >> 1)>>>(\n  x);",
        "__shared__ float a[4];",
        "__shared__\n  float a[4],\n  b;",
        "__shared__ struct {\n  int a;  // one\n  int b;\n} s;",
        "extern __shared__\n  float d[];",
        "__device__\n  float g[2] =\n  {1, 2};",
        "__constant__ float c[4];",
        "auto f = [=](int i) {\n  return a[i] + d[i];\n};",
        "if (n)\n  k<<<1,\n  2>>>(NULL);\nelse\n  done();",
        "#define LAUNCH(k, ...) \\\n  k<<<1, \\\n  2>>> \\\n  (__VA_ARGS__)",
        "#define TILE(T, n) \\\n  __shared__ \\\n  T n[4]",
        "#if A\nint x;\n#else\nfloat x;\n#endif",
        "#if 0\nk<<<don't\n#endif",
        "// k<<<1, 2>>>(x); \\\n   and on",
        "/* __shared__\n   float */",
        'const char* s = "<<<";',
        'auto r = R"x(\n__shared__ "\n)x";',
        "void g() {\n}",
        "namespace n {\n}",
        "{\nint y = 1'000;\n}",
        "",
    ]
)


@given(st.lists(SNIPPETS, max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
@settings(max_examples=250, deadline=None)
def test_any_mixture_of_constructs_keeps_its_lines(snippets: list[str], nested: list[bool]) -> None:
    text = ""
    plain: set[int] = set()
    for snippet, inside in zip(snippets, nested, strict=False):
        wrapped = f"__global__ void f() {{ int n;\n{snippet}\n}}" if inside else snippet
        if not any(word in wrapped for word in (*CUDA_WORDS, "[=]")):
            plain.update(range(text.count("\n"), text.count("\n") + wrapped.count("\n") + 1))
        text += wrapped + "\n"
    assert not plain.intersection(changed_lines(text, rewritten(text)))


@given(st.lists(SNIPPETS, max_size=8))
@settings(max_examples=100, deadline=None)
def test_translating_a_text_without_cuda_syntax_changes_nothing(snippets: list[str]) -> None:
    text = "\n".join(s for s in snippets if not any(word in s for word in CUDA_WORDS))
    assert rewritten(text) == text


def test_columns_in_front_of_a_rewrite_stay_too() -> None:
    got = rewritten("int a = 1; k<<<1, 2>>>(x);")
    assert got.startswith("int a = 1; ::tilestep::configure(1, ")

"""Launches, rewritten: exact text for each way of writing one."""

import pytest

from tilestep.frontends.cuda import rewrite
from tilestep.frontends.structure import analyse
from tilestep.frontends.tokens import lex
from tilestep.program import SubmissionError

KERNELS = "\n" + " ".join(f"__global__ void {name}() {{}}" for name in ("k", "fill", "a", "b", "overloaded"))


def rewritten(text: str) -> str:
    """What becomes of a text that a few kernels follow."""
    lexed = lex(text + KERNELS, "a.cu")
    got = rewrite(lexed, analyse(lexed), "a.cu")
    kernels = KERNELS.replace("{}", "{ TILESTEP_ENTER()}")
    assert got.endswith(kernels)
    return got.removesuffix(kernels)


def call(line: object, literal: str, kernel: str, configuration: str) -> str:
    body = f"[=](auto... tilestep_a) {{ {kernel}(tilestep_a...); }}"
    return f"::tilestep::configure({line}, {literal}, {body}, {configuration})"


@pytest.mark.parametrize(
    ("kernel", "configuration"),
    [
        ("k", "1, 2"),
        ("ns::k", "grid, block, 0, stream"),
        ("::k", "1, 2"),
        ("::ns::inner::k", "1, 2"),
        ("fill<float, 4>", "dim3(1, 2), dim3(32)"),
        ("fill<Tile<4>, (3 > 2)>", "1, 2"),
        ("fill<(1 << 4)>", "n >> 1, 2"),
        ("fill<1 << 4>", "1, 2"),
        ("T::template k<4>", "1, 2"),
        ("(fill<float, 4>)", "1, 2"),
        ("((overloaded))", "1, 2"),
        ("k", "(n + 31) / 32, (64 >> 1)"),
        ("k", "1, 2, sizeof(Tile<Tile<4>>)"),
        ("k", "1, 2, count<4>()"),
        ("k", "1, count<Tile<4>>"),
        ("k", "dim3{1, 2}, {32, 1, 1}"),
    ],
)
def test_a_launch_keeps_its_kernel_its_configuration_and_its_arguments(
    kernel: str, configuration: str
) -> None:
    text = f"void f() {{ if (ready) {kernel}<<<{configuration}>>>(x, g(y), (z)); else done(); }}"
    literal = f'"{kernel}"'
    want = f"void f() {{ if (ready) {call(1, literal, kernel, configuration)}(x, g(y), (z)); else done(); }}"
    assert rewritten(text) == want


@pytest.mark.parametrize(
    "kernel",
    [
        "pointer",
        "(pointer)",
        "(*pointer)",
        "(fast ? a : b)",
        "table[i + 1]",
        "table[i][j].kernel",
        "this->kernel",
        "choose(n, 3)",
        "ns::choose<int>(n)",
    ],
)
def test_a_kernel_that_is_a_value_is_looked_up_when_it_is_launched(kernel: str) -> None:
    body = f"[tilestep_k = {kernel}](auto... tilestep_a) {{ tilestep_k(tilestep_a...); }}"
    want = f'else ::tilestep::configure(1, "{kernel}", {body}, 1, 2)(x);'
    assert rewritten(f"else {kernel}<<<1, 2>>>(x);") == want


def test_a_template_list_may_touch_the_closing_chevrons() -> None:
    assert rewritten("void f() { k<<<1, size<Tile<4>>>>>(x); }") == (
        f"void f() {{ {call(1, quoted('k'), 'k', '1, size<Tile<4>>')}(x); }}"
    )


def quoted(text: str) -> str:
    return f'"{text}"'


@pytest.mark.parametrize("before", ["else ", "do ", "return ", "x = y; ", "{} ", "(void)0, ", "case 1: "])
def test_what_stands_in_front_of_the_kernel_stays(before: str) -> None:
    assert rewritten(f"{before}k<<<1, 2>>>(x)") == f"{before}{call(1, quoted('k'), 'k', '1, 2')}(x)"


def test_a_statement_parenthesis_is_not_a_call() -> None:
    assert rewritten("if (a) (*k)<<<1, 2>>>(x);").startswith(
        'if (a) ::tilestep::configure(1, "(*k)", [tilestep_k = (*k)]('
    )
    assert rewritten("for (;;) (k)<<<1, 2>>>(x);") == f"for (;;) {call(1, quoted('(k)'), '(k)', '1, 2')}(x);"


def test_a_launch_over_several_lines_keeps_every_line() -> None:
    text = "void f() {\n  fill<float,   // kernel\n    4>\n  <<<grid,\n     block>>>(\n    x);\n}\n"
    got = rewritten(text)
    assert got.count("\n") == text.count("\n")
    assert got.splitlines()[1] == (
        '  ::tilestep::configure(2, "fill<float, 4>", [=](auto... tilestep_a) { fill<float,   // kernel'
    )
    assert got.splitlines()[2:] == ["    4>", "  (tilestep_a...); }, grid,", "     block)(", "    x);", "}"]


def test_spaces_around_the_chevrons_are_fine() -> None:
    assert rewritten("k <<< 1, 2 >>> (x);") == (
        '::tilestep::configure(1, "k", [=](auto... tilestep_a) { k (tilestep_a...); },  1, 2 ) (x);'
    )


def test_several_launches_and_launches_within_lambdas_and_macro_arguments() -> None:
    one = call(1, quoted("a"), "a", "1, 2")
    two = call(1, quoted("b"), "b", "3, 4")
    assert rewritten("a<<<1, 2>>>(x), b<<<3, 4>>>(y);") == f"{one}(x), {two}(y);"
    assert rewritten("auto go = [&] { a<<<1, 2>>>(x); };") == f"auto go = [&] {{ {one}(x); }};"
    assert rewritten("CHECK(a<<<1, 2>>>(x));") == f"CHECK({one}(x));"


def test_text_in_strings_comments_and_dead_code_is_not_a_launch() -> None:
    text = (
        'const char* s = "k<<<1, 2>>>(x)"; // k<<<1, 2>>>(x)\n/* k<<<1, 2>>>(x) */\n'
        "auto r = R\"x(k<<<1, 2>>>(\"y)\"))x\"; char q = '\"';\nint n = 1'000'000; // don't <<<\n"
        "#if 0\nk<<<1, 2>>>(x); don't __shared__ float a[2] = {};\n#endif\n#error don't\n"
    )
    assert rewritten(text) == text


def test_both_sides_of_a_condition_are_rewritten() -> None:
    text = "#if A\nk<<<1, 2>>>(x);\n#else\nk<<<1, 3>>>(x);\n#endif\n#if 0\n#else\nk<<<1, 4>>>(x);\n#endif\n"
    got = rewritten(text)
    assert [got.count(f"1, {n})(x)") for n in (2, 3, 4)] == [1, 1, 1]


def test_template_closers_and_operators_are_not_launches() -> None:
    for text in ("A<B<C<int>>>(x);", "operator<<<int>(x);", "a << b; c >> d; x >>= 3; y <<= 2;"):
        assert rewritten(text) == text


def test_a_macro_names_the_kernel_it_is_given_and_the_line_it_is_used_in() -> None:
    text = "#define LAUNCH(k, n, ...) \\\n  k<<<n, 32>>> \\\n  (__VA_ARGS__)\n"
    got = rewritten(text)
    assert got == (
        "#define LAUNCH(k, n, ...) \\\n  ::tilestep::configure(__LINE__, #k, [=](auto... tilestep_a) "
        "{ k(tilestep_a...); }, n, 32) \\\n  (__VA_ARGS__)\n"
    )
    assert '"fill<" #T ", 4>"' in rewritten("#define GO(T) fill<T, 4><<<1, 32>>>(x)\n")
    assert ', "k", ' in rewritten("#define GO k<<<1, 32>>>\n")
    assert ', "k", ' in rewritten("#define GO() k<<<1, 32>>>(x)\n")


def test_a_null_argument_stays_a_pointer() -> None:
    assert rewritten("k<<<1, 2, 0, NULL>>>(NULL, f(NULL), x);").endswith("(nullptr, f(NULL), x);")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("\n<<<1, 2>>>(x);", 2, "no kernel in front"),
        ("void f() {\n k<<<1, 2(x);\n}", 2, "no closing >>>"),
        ("k<<<>>>(x);", 1, "needs a grid and a block"),
        ("k<<<1, 2>>;", 1, "no closing >>>"),
        ("#define CFG <<<1, 2>>>\n", 1, "no kernel in front"),
    ],
)
def test_a_launch_that_cannot_be_one_is_named_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        rewritten(text)
    assert caught.value.line == line
    assert caught.value.outcome == "broken"
    assert says in caught.value.says

"""`__shared__`, `__device__`, `__constant__` declarations: the exact text that they become, or a refusal."""

import re

import pytest

from tilestep.frontends.cuda import rewrite
from tilestep.frontends.structure import analyse
from tilestep.frontends.tokens import lex
from tilestep.program import SubmissionError


def rewritten(text: str) -> str:
    lexed = lex(text, "a.cu")
    return re.sub(r" TILESTEP_ENTER\([^()]*\)", "", rewrite(lexed, analyse(lexed), "a.cu"))


def in_kernel(text: str) -> str:
    """What becomes of a statement in a kernel's body."""
    begin, end = "__global__ void k(float* o) { ", " }"
    got = rewritten(begin + text + end)
    assert got.startswith(begin)
    assert got.endswith(end)
    return got[len(begin) : -len(end)]


def reference(number: int, name: str, line: int = 1) -> str:
    return f'auto& {name} = ::tilestep::shared<tilestep_shared_{number}>("{name}", {line}).{name};'


@pytest.mark.parametrize(
    ("declared", "member", "name"),
    [
        ("__shared__ float m;", "float m", "m"),
        ("__shared__ float tile[32][33];", "float tile[32][33]", "tile"),
        ("static __shared__ float s[N];", "float s[N]", "s"),
        ("__shared__ static float s[N];", "float s[N]", "s"),
        ("float __shared__ s[2 * (N + 1)];", "float s[2 * (N + 1)]", "s"),
        ("volatile __shared__ int flag;", "volatile int flag", "flag"),
        ("__shared__ volatile unsigned long long flag;", "volatile unsigned long long flag", "flag"),
        ("__shared__ __align__(16) float s[4];", "__align__(16) float s[4]", "s"),
        ("__align__(16) __shared__ float s[4];", "__align__(16) float s[4]", "s"),
        ("alignas(16) __shared__ float s[4];", "alignas(16) float s[4]", "s"),
        ("__shared__ float __align__(16) s[4];", "float __align__(16) s[4]", "s"),
        (
            "__shared__ float s[4] __attribute__((aligned(16)));",
            "float s[4] __attribute__((aligned(16)))",
            "s",
        ),
        ("__shared__ typename Reduce<T, 256>::Storage s;", "typename Reduce<T, 256>::Storage s", "s"),
        ("__shared__ ::ns::Tile<Tile<4>> s[2];", "::ns::Tile<Tile<4>> s[2]", "s"),
        ("__shared__ std::array<float, 4> s;", "std::array<float, 4> s", "s"),
        ("__shared__ struct State s;", "struct State s", "s"),
        ("__shared__ decltype(o[0] + 1) s[4];", "decltype(o[0] + 1) s[4]", "s"),
        ("__shared__ float *p;", "float *p", "p"),
        ("__shared__ const float* p[2];", "const float * p[2]", "p"),
        ("__shared__ float (*rows)[33];", "float (*rows)[33]", "rows"),
        ("__shared__ /* row */ float s[4]; // s", "float s[4]", "s"),
    ],
)
def test_a_shared_variable_becomes_a_reference_into_its_own_struct(
    declared: str, member: str, name: str
) -> None:
    rest = declared[declared.index(";") + 1 :]
    text = in_kernel(declared + "\n")
    assert text == f"struct tilestep_shared_1 {{ {member}; }}; {reference(1, name)}{rest}\n"


def test_each_declarator_gets_a_struct_of_its_own() -> None:
    assert in_kernel("__shared__ float tile[32][33], m, *p;") == (
        "struct tilestep_shared_1 { float tile[32][33]; }; struct tilestep_shared_2 { float m; }; "
        "struct tilestep_shared_3 { float *p; }; "
        f"{reference(1, 'tile')} {reference(2, 'm')} {reference(3, 'p')}"
    )


def test_a_struct_that_is_defined_on_the_way_stays_visible() -> None:
    assert in_kernel("__shared__ struct State { float m, l; } s, t[2];") == (
        "struct State { float m, l; }; "
        "struct tilestep_shared_1 { State s; }; struct tilestep_shared_2 { State t[2]; }; "
        f"{reference(1, 's')} {reference(2, 't')}"
    )
    assert in_kernel("__shared__ union { float f; int i; } u;") == (
        f"union tilestep_type_1 {{ float f; int i; }}; struct tilestep_shared_1 {{ tilestep_type_1 u; }}; "
        f"{reference(1, 'u')}"
    )


def test_lines_within_a_declaration_are_kept() -> None:
    text = "__global__ void k() {\n  __shared__\n    float a[4], // first\n    b;\n  a[0] = b;\n}\n"
    got = rewritten(text).split("\n")
    assert len(got) == len(text.split("\n"))
    assert got[1].startswith("  struct tilestep_shared_1 { float a[4]; };")
    assert '("a", 2)' in got[1]
    assert got[2:] == ["", ";", "  a[0] = b;", "}", ""]


@pytest.mark.parametrize(
    ("declared", "access"),
    [
        ("extern __shared__ float s[];", "float* const s = reinterpret_cast<float*>({});"),
        ("__shared__ extern float s[];", "float* const s = reinterpret_cast<float*>({});"),
        ("extern volatile __shared__ int s[];",
         "volatile int* const s = reinterpret_cast<volatile int*>({});"),
        ("extern __shared__ __align__(16) unsigned char s[];",
         "unsigned char* const s = reinterpret_cast<unsigned char*>({});"),
        ("extern __shared__ float s[][33];", "float (*const s)[33] = reinterpret_cast<float (*)[33]>({});"),
        ("extern __shared__ float s[][N][4];",
         "float (*const s)[N][4] = reinterpret_cast<float (*)[N][4]>({});"),
        ("extern __shared__ float* s[];", "float ** const s = reinterpret_cast<float **>({});"),
        ("extern __shared__ T s[];", "T* const s = reinterpret_cast<T*>({});"),
        ("extern __shared__ typename A<T, 2>::B s[];",
         "typename A<T, 2>::B* const s = reinterpret_cast<typename A<T, 2>::B*>({});"),
        ("extern __shared__ float s[16];", "float (&s)[16] = *reinterpret_cast<float (*)[16]>({});"),
        ("extern __shared__ State s;", "State& s = *reinterpret_cast<State*>({});"),
        ("extern __shared__ float a[], b[];",
         "float* const a = reinterpret_cast<float*>({0}); float* const b = reinterpret_cast<float*>({0});"),
    ],
)  # fmt: skip
def test_dynamic_shared_memory_becomes_a_pointer(declared: str, access: str) -> None:
    assert in_kernel(declared) == access.format("tilestep_dynamic_shared()")


def test_a_file_level_declaration_is_made_in_every_function_that_names_it() -> None:
    got = rewritten(
        "extern __shared__ float pool[];\n__shared__ int flag;\n#define FIRST pool[0]\n"
        "__device__ float a() { return pool[1]; }\n__device__ float b() { return FIRST + flag; }\n"
        "__device__ float c(float pool) { return pool; }\n__device__ float d() { return 1; }\n"
    ).split("\n")
    pool = "float* const pool = reinterpret_cast<float*>(tilestep_dynamic_shared());"
    flag = 'auto& flag = ::tilestep::shared<tilestep_shared_2>("flag", 2).flag;'
    assert got[0] == ";"
    assert got[1] == "struct tilestep_shared_2 { int flag; };"
    assert got[3] == f"__device__ float a() {{ {pool} return pool[1]; }}"
    assert got[4] == f"__device__ float b() {{ {pool} {flag} return FIRST + flag; }}"
    assert got[5] == "__device__ float c(float pool) { return pool; }"
    assert got[6] == "__device__ float d() { return 1; }"


def test_a_function_with_its_own_declaration_does_not_get_a_second_one() -> None:
    got = rewritten(
        "extern __shared__ float pool[];\n"
        "__global__ void k(float* o) { extern __shared__ float pool[]; o[0] = pool[0]; }\n"
    )
    assert got.count("tilestep_dynamic_shared") == 1


def test_lambdas_name_shared_memory_instead_of_copying_it() -> None:
    got = in_kernel(
        "__shared__ float s[4];"
        " auto f = [=](int i) mutable -> float { auto g = [=] { return s[i]; }; return g(); };"
        " auto h = [=](float s) { return s; }; o[i] = s[0];"
    )
    again = reference(1, "s")
    assert f"[=](int i) mutable -> float {{ {again} auto g = [=] {{ {again} return s[i]; }};" in got
    assert "auto h = [=](float s) { return s; };" in got
    assert got.count("::tilestep::shared<") == 3


def test_a_lambda_outside_the_block_of_the_declaration_is_left_alone() -> None:
    got = in_kernel("{ __shared__ float s[4]; } auto f = [=](int i) { return s[i]; };")
    assert got.count("::tilestep::shared<") == 1


def test_another_spelling_of_the_qualifier_is_understood() -> None:
    got = rewritten(
        "#define SMEM __shared__\n#define DYNAMIC extern __shared__ __align__(16)\n"
        "__global__ void k() { SMEM float a[4]; DYNAMIC float b[]; }\n"
    )
    assert "struct tilestep_shared_1 { float a[4]; };" in got
    assert "float* const b = " in got


def test_a_macro_may_declare_the_array_that_it_is_told_to() -> None:
    got = rewritten("#define TILE(T, name, n) __shared__ T name[n]\n#define ROW __shared__ float row[4];\n")
    tag = "tilestep_shared_1_##name"
    assert got.split("\n")[0] == (
        f"#define TILE(T, name, n) struct {tag} {{ T name[n]; }}; "
        f"auto& name = ::tilestep::shared<{tag}>(#name, __LINE__).name"
    )
    assert got.split("\n")[1] == (
        "#define ROW struct tilestep_shared_2 { float row[4]; }; "
        'auto& row = ::tilestep::shared<tilestep_shared_2>("row", __LINE__).row;'
    )


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("__global__ void k() {\n __shared__ float s[2] = {1, 2};\n}", 2, "initial value"),
        ("__global__ void k() {\n __shared__ float s{0};\n}", 2, "initial value"),
        ("void f(\n__shared__ float* s) {}", 2, "cannot read"),
        ("__global__ void k() {\n __shared__;\n}", 2, "cannot read"),
        ("__global__ void k() {\n __shared__ float s(4);\n}", 2, "cannot read"),
        ("__global__ void k() {\n __shared__ float s[\n#ifdef A\n4\n#endif\n];\n}", 2, "preprocessor line"),
        ("#define A(x) __shared__ x\n", 1, "cannot read"),
    ],
)
def test_a_declaration_that_cannot_be_rewritten_is_refused(text: str, line: int, says: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        rewritten(text)
    assert (caught.value.line, caught.value.outcome) == (line, "broken")
    assert says in caught.value.says


def registrar(number: int, name: str, line: int, *, constant: bool) -> str:
    flag = "true" if constant else "false"
    return (
        f" static ::tilestep::VariableRegistrar tilestep_v{number}"
        f'{{"{name}", {line}, (void*)&{name}, sizeof {name}, {flag}}};'
    )


@pytest.mark.parametrize(
    "declared",
    [
        "__device__ float g[4];",
        "static __device__ float g[2][2] = {{1, 2}, {3, 4}};",
        "__device__ static const int g = 3;",
        "__constant__ float g[64];",
        "__device__ __constant__ float g;",
        "__constant__ Tile<4, 2> g{};",
        "volatile __device__ int g;",
        "__device__ float (*g)(float) = nullptr;",
        "__device__ struct State { int a; } g;",
        "__device__ float g __attribute__((aligned(16)));",
        "namespace n { __device__ int g; }",
        "namespace { __device__ int g; }",
        'extern "C" { __device__ int g; }',
        "extern __device__ int g = 2;",
        "constexpr __device__ float g[] = {1.f, 2.f};",
        "__device__ float g = f(1, 2);",
    ],
)
def test_a_device_variable_is_registered_on_its_own_line(declared: str) -> None:
    want = registrar(1, "g", 2, constant="__constant__" in declared)
    end = declared.rindex(" }") if declared.startswith(("namespace", 'extern "C" {')) else len(declared)
    assert rewritten("\n" + declared) == "\n" + declared[:end] + want + declared[end:]


def test_every_declarator_is_registered() -> None:
    got = rewritten("__constant__ float a, b[2];")
    assert got.endswith(registrar(1, "a", 1, constant=True) + registrar(2, "b", 1, constant=True))


@pytest.mark.parametrize(
    "text",
    [
        "__device__ float f(float x);",
        "__device__ float f(float x) { return x; }",
        "__device__ __forceinline__ auto f(float x) -> float { return x; }",
        "template <class T> __device__ T f(T x) { return x; }",
        "template <class T> __device__ T pi = T(3);",
        "extern __device__ int later;",
        "struct S { __device__ int f() const { return 1; } __host__ __device__ S() : a(1) {} int a; };",
        "__global__ void k() { int x = 0; }",
        "__device__ S::S() : a{1} {}",
        "__host__ __device__ inline bool operator==(A a, A b) { return a.x == b.x; }",
        "__device__ void (*choose(int n))(float) { return nullptr; }",
        "using F = int (*)(int);",
    ],
)
def test_what_is_no_variable_is_left_alone(text: str) -> None:
    assert rewritten(text) == text


def test_managed_memory_is_refused() -> None:
    with pytest.raises(SubmissionError, match=r"a\.cu:2: managed memory"):
        rewritten("\n__managed__ float x;")

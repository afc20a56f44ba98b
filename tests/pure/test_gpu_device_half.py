"""The device half of a file, for a compiler that takes no host code."""

import pytest

from tilestep.targets.gpu.device_half import PRELUDE, device_half, instantiations


def lines(text: str) -> list[str]:
    """What is left of the file's own lines."""
    made = device_half(text, "a.cu")
    begin = made.index('#line 1 "a.cu"\n') + len('#line 1 "a.cu"\n')
    assert made.startswith(PRELUDE)
    return made[begin:].splitlines()[: len(text.splitlines())]


def test_a_seam_becomes_blanks_and_every_line_keeps_its_number() -> None:
    text = """\
#include <cstdio>
#include <cuda_fp16.h>
__global__ void k(float* y) { y[0] = 1; }
void seam(float* y,
          int T) {
  k<<<T, 32>>>(y);
}
__device__ float last;
"""
    left = lines(text)
    assert [line.strip() for line in left] == [
        "",
        "#include <cuda_fp16.h>",
        "__global__ void k(float* y) { y[0] = 1; }",
        "",
        "",
        "",
        "",
        "__device__ float last;",
    ]


@pytest.mark.parametrize(
    "host",
    [
        "void run() { cudaMemset(0, 0, 0); }",
        "template <int N> void run() { k<N><<<1, 1>>>(); }",
        "struct Launcher { void run() { k<<<1, 1>>>(); } };",
        "void first() { k<<<1, 1>>>(); }\nvoid run() { first(); }",
    ],
)
def test_every_way_to_launch_is_the_hosts(host: str) -> None:
    left = "\n".join(lines(f"__global__ void k() {{}}\n{host}"))
    assert "run()" not in left
    assert "__global__ void k() {}" in left


def test_helpers_that_either_side_may_call_stay() -> None:
    text = "constexpr int tiles(int n) { return n / 32; }\ninline float twice(float x) { return 2 * x; }"
    assert "\n".join(lines(text)) == text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("__global__ void k() {} void f() { k<<<1, 1>>>(); }", []),
        ("static __global__ void k() {} void f() { k<<<1, 1>>>(); }", ["k"]),
        ("namespace { __global__ void k() {} } void f() { k<<<1, 1>>>(); }", ["k"]),
        (
            "template <int N> __global__ void k() {} void f() { k<4><<<1, 1>>>(); k<8><<<1, 1>>>(); }",
            ["k<4>", "k<8>"],
        ),
        (
            (
                "namespace a { template <class T, int N> __global__ void k() {} }"
                " void f() { a::k<float, (2 > 1)><<<1, 1>>>(); }"
            ),
            ["a::k<float, (2 > 1)>"],
        ),
    ],
)
def test_what_only_host_code_asks_for_is_named(text: str, named: list[str]) -> None:
    assert [name.replace(" ", "") for name in instantiations(device_half(text, "a.cu"))] == [
        name.replace(" ", "") for name in named
    ]

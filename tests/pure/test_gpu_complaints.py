"""What a device compiler says, as a sentence about the person's own line."""

import pytest

from tilestep.program import KernelSource, Program
from tilestep.targets.gpu.complaints import explain

PROGRAM = Program("mine.cu", "", "cuda", "rmsnorm", "", (KernelSource("norm", 4), KernelSource("normTwo", 9)))


@pytest.mark.parametrize(
    ("said", "says", "line"),
    [
        (
            'submission.cu(12): error: identifier "foo" is undefined\n  foo();\n',
            'identifier "foo" is undefined',
            12,
        ),
        ("submission.cu(2): error #20-D: no such thing", "no such thing", 2),
        ("submission.cu:3:10: fatal error: nope.h: No such file or directory\n", "nope.h: No such file", 3),
        ("ptxas fatal   : Unresolved extern function '_Z1ff'", "Unresolved extern function", None),
        (
            (
                "ptxas error   : Entry function '_Z7normTwoPf' uses too much shared data "
                "(0x13880 bytes, 0xc000 max)"
            ),
            "80,000 bytes of shared arrays, and a GPU allows 49,152",
            9,
        ),
        ("nvcc fatal   : Unsupported gpu architecture 'sm_70'", "does not know this card", None),
        ("", "it gives no reason", None),
        ("some/header.h(3): error: deep inside", "refuses the file", None),
    ],
)
def test_the_first_error_is_told(said: str, says: str, line: int | None) -> None:
    error = explain("nvcc", said, "", PROGRAM)
    assert says in error.says
    assert (error.file, error.line, error.outcome) == ("mine.cu", line, "broken")


def test_a_limit_is_told_before_anything_else() -> None:
    error = explain("nvcc", "submission.cu(1): error: x", "it was still running after 60 seconds", PROGRAM)
    assert error.says == "nvcc was ended: it was still running after 60 seconds"

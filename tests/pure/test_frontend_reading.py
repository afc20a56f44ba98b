"""Files that cannot be read as a submission: each gets one sentence, and the line where there is one."""

import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilestep.contract import STEP
from tilestep.frontends.cuda import load, translate
from tilestep.frontends.reading import LARGEST_FILE, SourceFile, read_source
from tilestep.program import Program, SubmissionError

STEP_6 = STEP["online-attention"]
KERNEL = "__global__ void k(float* o) { o[0] = 1; }\n"
SEAM = "void runCausalAttention(const float* qkv, float* attnOut, int T) { k<<<1, 32>>>(attnOut); }\n"


def refusal(path: Path) -> SubmissionError:
    with pytest.raises(SubmissionError) as caught:
        load(path, STEP_6)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_plain_file_becomes_a_program(tmp_path: Path) -> None:
    path = tmp_path / "attention.cu"
    path.write_bytes((KERNEL + SEAM).encode())
    program = load(path, STEP_6)
    assert program.file == str(path)
    assert program.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (program.language, program.step) == ("cuda", "online-attention")
    assert [(kernel.name, kernel.line) for kernel in program.kernels] == [("k", 1)]
    assert program.source.startswith(f'#line 1 "{path}"\n')


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"", None, "the file is empty"),
        (b" \n\t\r\n", None, "the file is empty"),
        (b"// nothing\n/* at all */\n", None, "only comments"),
        (b"\x7fELF\x02\x01\x00\x00", 1, "binary"),
        (b"int x;\nint y;\0", 2, "binary"),
        (b"int x;\n// caf\xe9\n", 2, "not UTF-8 text: byte 0xe9 at offset 13"),
        (b"\xef\xbb\xbfint x;\n\n\xff", 3, "byte 0xff at offset 11"),
        (b"int x;\n/* not closed\n", 2, "this comment never ends"),
    ],
)
def test_content_that_is_no_source_is_refused(
    tmp_path: Path, content: bytes, line: int | None, says: str
) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(content)
    error = refusal(path)
    assert error.line == line
    assert says in error.says


def test_a_missing_file_a_directory_and_a_path_through_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    assert refusal(tmp_path / "none.cu").says == "no such file"
    assert "directory" in refusal(tmp_path).says
    assert "no such file" in refusal(tmp_path / "plain" / "a.cu").says
    assert refusal(Path("a\0b.cu")).says.startswith("the file cannot be read")
    assert "cannot be read" in refusal(tmp_path / ("x" * 5000)).says


def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    assert "regular file" in refusal(tmp_path / "pipe.cu").says


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL + SEAM)
    path.chmod(0)
    assert "permission" in refusal(path).says


def test_a_large_file_is_refused_with_its_size(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    with path.open("wb") as stream:
        stream.truncate(10_000_000)
    assert "10.0 MB" in refusal(path).says
    path.write_bytes((KERNEL + SEAM).encode().ljust(LARGEST_FILE))
    assert load(path, STEP_6).kernels


def test_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path) -> None:
    text = KERNEL + "\n// note\n" + SEAM
    sources = set()
    for name, content in {
        "unix.cu": text,
        "windows.cu": text.replace("\n", "\r\n"),
        "mac.cu": text.replace("\n", "\r"),
        "bom.cu": "\ufeff" + text,
    }.items():
        path = tmp_path / name
        path.write_bytes(content.encode())
        sources.add(load(path, STEP_6).source.replace(name, "X"))
    assert len(sources) == 1


def test_the_suffix_does_not_matter_and_the_name_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / 'a "quoted" \\ name.txt'
    path.write_text(KERNEL + SEAM)
    first = load(path, STEP_6).source.splitlines()[0]
    assert first.endswith('a \\"quoted\\" \\\\ name.txt"')
    undecodable = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n.cu"))
    undecodable.write_text(KERNEL + SEAM)
    program = load(undecodable, STEP_6)
    assert "\n" not in program.file
    program.source.encode()


def result_of(make: Callable[[], object]) -> object:
    """What came out: the value, or the refusal. Anything else that is raised fails the test."""
    try:
        return make()
    except SubmissionError as error:
        return error


@given(st.binary(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.cu"
    path.write_bytes(content)
    result = result_of(lambda: read_source(path))
    if isinstance(result, SubmissionError):
        assert re.fullmatch(r".*any\.cu(:\d+)?: \w.*", str(result))
    else:
        assert isinstance(result, SourceFile)
        assert result.text.strip()


TEXTS = r"""<<< >>> > < ( ) [ ] { } ; , :: . -> = * & # ' " R"( )" /* */ // 0 1'0 k a->b template
    extern static __shared__ __global__ __device__ __constant__ void float struct operator if else
    #define #if #else #endif
    #include namespace x, alignas(16) __align__(8) NULL runCausalAttention LAUNCH(k) auto"""
PIECES = st.sampled_from([*TEXTS.split(), "\n", "\\\n", "\n#"])


@given(st.lists(PIECES, max_size=60), st.sampled_from(["", KERNEL + SEAM]))
@settings(max_examples=400, deadline=None)
def test_any_sequence_of_tokens_is_translated_or_refused(pieces: list[str], rest: str) -> None:
    text = " ".join(pieces) + "\n" + rest
    result = result_of(lambda: translate(SourceFile("any.cu", text, ""), STEP_6))
    if isinstance(result, SubmissionError):
        assert result.says
        assert result.outcome in ("refused", "broken")
    else:
        assert isinstance(result, Program)
        glue_lines = 5  # and the #line in front
        assert result.source.count("\n") == text.count("\n") + 1 + glue_lines


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_behind_a_kernel_is_translated_or_refused(text: str) -> None:
    result = result_of(lambda: translate(SourceFile("any.cu", KERNEL + SEAM + text, ""), STEP_6))
    assert isinstance(result, (Program, SubmissionError))


def test_a_long_file_is_translated_in_reasonable_time() -> None:
    body = "__device__ float f%d(float x) { auto g = [=] { return x; }; return g(); }\n"
    tile = "__global__ void k%d(float* o) { __shared__ float t[32], u; t[0] = u; o[0] = t[0]; }\n"
    text = "".join(body % i + tile % i for i in range(3000)) + KERNEL + SEAM
    begin = time.process_time()
    program = translate(SourceFile("long.cu", text, ""), STEP_6)
    assert len(program.kernels) == 3001
    assert time.process_time() - begin < 15  # a second or two; minutes where a search is quadratic

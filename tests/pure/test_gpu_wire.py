"""Frames, plans and arrays between the GPU target and its worker."""

import io
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilestep.program import Argument, Buffer, Launch, LaunchPlan, Place, Transfer
from tilestep.targets.gpu import wire

places = st.builds(
    Place, st.sampled_from(["x", "scratch 1", "variable _ZL3tab"]), st.integers(-(2**40), 2**40)
)
triples = st.tuples(*[st.integers(1, 2**31 - 1)] * 3)
arguments = st.binary(max_size=40).flatmap(
    lambda data: st.builds(
        Argument, st.just(data), st.lists(st.tuples(st.integers(0, 32), places), max_size=2).map(tuple)
    )
)
launches = st.builds(
    Launch,
    st.text(max_size=9),
    triples,
    triples,
    st.integers(0, 2**20),
    st.none() | st.integers(1, 999),
    st.text(max_size=9),
    st.lists(arguments, max_size=3).map(tuple),
    st.none() | st.integers(0, 2**18),
)
transfers = st.builds(
    Transfer, places, st.integers(0, 2**31), st.none() | places | st.binary(max_size=99), st.integers(0, 255)
)
plans = st.builds(
    LaunchPlan,
    scratch_bytes=st.lists(st.integers(0, 2**30), max_size=3).map(tuple),
    items=st.lists(launches | transfers, max_size=5).map(tuple),
)


def reader(data: bytes) -> Callable[[int], bytes]:
    stream = io.BytesIO(data)

    def read(count: int) -> bytes:
        got = stream.read(count)
        if len(got) < count:
            raise EOFError
        return got

    return read


def through(body: dict[str, object], blobs: list[wire.Data]) -> wire.Message:
    return wire.receive(reader(b"".join(map(bytes, wire.frame(body, blobs)))))


@given(plans)
def test_a_plan_comes_out_as_it_went_in(plan: LaunchPlan) -> None:
    blobs: list[wire.Data] = [b"image"]
    body = {"plan": wire.pack_plan(plan, blobs)}
    message = through(body, blobs)
    assert message.blobs[0] == b"image"
    assert wire.unpack_plan(message.body["plan"], message.blobs) == plan


@given(st.binary(max_size=64))
def test_noise_is_no_frame(noise: bytes) -> None:
    with pytest.raises((wire.WireError, EOFError)):
        wire.receive(reader(noise))


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"{}",
        b'{"blobs": 1}',
        b'{"blobs": [-1]}',
        b'{"blobs": [true]}',
        b'{"blobs": [3]}',
        b"{",
        b"[" * 9999,
    ],
)
def test_a_frame_must_tell_its_blobs(text: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.receive(reader(wire.HEAD.pack(len(text), 0) + text))


def test_impossible_lengths_are_refused_before_memory_is_taken() -> None:
    with pytest.raises(wire.WireError, match="impossible"):
        wire.receive(reader(wire.HEAD.pack(2**32 - 1, 0)))


@pytest.mark.parametrize(
    "body", [{}, {"items": [{}], "scratch": []}, {"items": [{"symbol": "k"}], "scratch": []}]
)
def test_what_is_no_plan_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(wire.WireError, match="no plan"):
        wire.unpack_plan(body, ())


def test_data_and_outputs_keep_their_shapes() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    buffers = (Buffer("x", 2, 3, "in", x), Buffer("y", 2, 3, "inout", x + 1), Buffer("z", 1, 2, "out"))
    message = through({"buffers": wire.pack_buffers(buffers)}, wire.pack_data(buffers))
    shapes = wire.unpack_buffers(message.body["buffers"])
    assert [(b.name, b.rows, b.width, b.role) for b in shapes] == [
        ("x", 2, 3, "in"),
        ("y", 2, 3, "inout"),
        ("z", 1, 2, "out"),
    ]
    assert len(message.blobs) == 2
    outputs = wire.unpack_outputs(shapes, [message.blobs[1], memoryview(bytes(8))])
    assert np.array_equal(outputs["y"], x + 1)
    assert np.array_equal(outputs["z"], np.zeros((1, 2)))


def test_outputs_of_another_size_are_refused() -> None:
    buffers = (Buffer("z", 1, 2, "out"),)
    with pytest.raises(wire.WireError, match="has 4 bytes, not 8"):
        wire.unpack_outputs(buffers, [memoryview(bytes(4))])
    with pytest.raises(wire.WireError, match="0 outputs, not 1"):
        wire.unpack_outputs(buffers, [])


def test_inputs_must_be_whole() -> None:
    with pytest.raises(ValueError, match="x has no data"):
        wire.pack_data((Buffer("x", 1, 2, "in"),))
    with pytest.raises(ValueError, match="holds 3 values, not 1 x 2"):
        wire.pack_data((Buffer("x", 1, 2, "in", np.zeros(3, np.float32)),))

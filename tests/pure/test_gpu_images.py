"""The device linker's names, matched to the host's."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tilestep.targets.gpu.images import BadImageError, DeviceImage, match, normalised, own_name, read_image

FILE = "_GLOBAL__N__584f7537_4_k_cu_cc"  # nvcc's anonymous namespace: hash, length and name of the file
INTERNAL = "28_INTERNAL_584f7537_4_k_cu_cc"


@pytest.mark.parametrize(
    ("host", "device"),
    [
        ("_Z4attnPf", "_Z4attnPf"),
        ("_ZL4statPfi", "_Z4statPfi"),
        ("_ZL4stemILi4EEvPf", "_Z4stemILi4EEvPf"),
        ("_ZN2nsL4statEPf", "_ZN2ns4statEPf"),
        ("_ZN12_GLOBAL__N_14anonEPf", f"_ZN30{FILE}4anonEPf"),
        ("_ZN2a112_GLOBAL__N_14anonEPf", f"_ZN2a130{FILE}4anonEPf"),
        ("_ZN12_GLOBAL__N_15anonvE", f"_ZN{INTERNAL}30{FILE}5anonvE"),
        ("_ZN2nsL6sinnerE", f"_ZN{INTERNAL}2ns6sinnerE"),
        ("_ZL7counter", "counter"),
        ("cacheA", "cacheA"),
        ("plain", "plain"),
    ],
)
def test_linkage_makes_no_difference(host: str, device: str) -> None:
    assert normalised(host) == normalised(device)
    assert match([host], [device, "_Z5otherPf", "_ZN5otherE"]) == {host: device}


def test_the_same_name_goes_before_a_like_one() -> None:
    assert match(["_Z1kPf"], ["_ZL1kPf", "_Z1kPf"]) == {"_Z1kPf": "_Z1kPf"}


def test_a_type_that_compilers_spell_differently_is_found_by_the_kernels_own_name() -> None:
    assert match(["_Z4attnPfl"], ["_Z4attnPfx", "_Z4normPfx"]) == {"_Z4attnPfl": "_Z4attnPfx"}


def test_two_of_a_name_are_not_guessed_between() -> None:
    assert match(["_Z4attnPfl"], ["_Z4attnPfx", "_Z4attnPfi"]) == {}
    assert match(["_ZL1kPf"], []) == {}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("_Z6attendPKfPfi", "attend"),
        ("_ZN2ns6attendILi64EEEvPf", "attend"),
        ("_ZN2ns5innerE", "inner"),
        ("_ZZ2ccE11localstatic", "localstatic"),
        ("_ZL7counter", "counter"),
        ("plain", "plain"),
        ("_Z", "_Z"),
    ],
)
def test_own_names(name: str, own: str) -> None:
    assert own_name(name) == own


@given(st.text("_ZNLE_0159Gab", max_size=200))
@example("_Z" + 5000 * "9")
@example("_ZN" + 5000 * "9" + "aE")
@example("_ZN" + 5000 * "9" + "_GLOBAL__N_1aE")
@example("_ZN" + 5000 * "9" + "_INTERNAL_1aE")
def test_a_name_may_hold_anything(name: str) -> None:
    assert match([name], [name]) == {name: name}
    assert isinstance(own_name(name), str)


def test_variables_are_told_by_their_own_names_where_those_differ() -> None:
    image = DeviceImage(b"", frozenset(), {"_ZN1a1vE": 4, "_ZN1b1vE": 8, "_ZN1a1wE": 12})
    assert image.readable_variables() == {"_ZN1a1vE": 4, "_ZN1b1vE": 8, "w": 12}


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"not an image at all", b"\x7fELF" + bytes(60)])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(BadImageError):
        read_image(data)

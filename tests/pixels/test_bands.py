"""Which bands a model reads, by names as real files have them."""

from __future__ import annotations

import pytest

from tiler.pixels.band_names import BandError, plain
from tiler.pixels.bands import BandChoice, choose_bands

BGRN = ("blue", "green", "red", "nir")
UNTAGGED = ("gray", "undefined", "undefined", "undefined")


def choose(wanted=BGRN, asked=None, descriptions=None, colors=UNTAGGED) -> BandChoice:
    return choose_bands(wanted, asked, descriptions or [None] * len(colors), colors)


def refusal(**scene) -> str:
    with pytest.raises(BandError) as told:
        choose(**scene)
    return str(told.value)


def test_bands_are_matched_by_description_whatever_their_order():
    choice = choose(descriptions=["red", "green", "blue", "nir"])
    assert choice == BandChoice((3, 2, 1, 4))


@pytest.mark.parametrize(
    ("description", "wanted"),
    [
        ("Near_Infrared", "nir"),
        ("near-infrared", "NIR"),
        ("Red Edge", "rededge"),
        ("SWIR 1", "swir1"),
        ("B4, central wavelength 665 nm", "B04"),
        ("B08", "b8"),
        ("B8A", "b08a"),
        ("Band 2 (Blue)", "blue"),
        ("B2 - Blue", "blue"),
        ("coastal aerosol", "coastal"),
    ],
)
def test_a_name_is_known_however_files_write_it(description, wanted):
    colors = ("gray", "undefined")
    assert choose((wanted,), None, ["other", description], colors).indexes == (2,)


def test_red_edge_is_not_red():
    message = refusal(wanted=("red",), descriptions=["red edge"], colors=("gray",))
    assert message.startswith("has no band 'red'; it has 1 band (1 red edge)")


def test_a_whole_description_goes_before_a_piece_of_one():
    descriptions = ["Blue (coastal)", "blue"]
    assert choose(("blue",), None, descriptions, UNTAGGED[:2]).indexes == (2,)


def test_a_sensors_band_numbers_are_never_taken_for_colours():
    message = refusal(descriptions=["B01", "B02", "B03", "B04"])
    assert message == (
        "has no band 'blue', 'green', 'red', 'nir'; it has 4 bands (1 B01, 2 B02, 3 B03, 4 B04). "
        "Say which to read with scenes.bands, by index or name"
    )


def test_colours_serve_where_descriptions_do_not():
    choice = choose(("blue", "red"), None, ["B04", "B03", "B02"], ("red", "green", "blue"))
    assert choice.indexes == (3, 1)
    assert not choice.guessed


def test_bands_are_matched_by_colour_and_the_log_says_so():
    choice = choose(colors=("red", "green", "blue", "nir"))
    assert choice.indexes == (3, 2, 1, 4)
    assert choice.notes == (
        "bands by colour interpretation: blue = band 3, green = band 2, red = band 1, nir = band 4",
    )
    assert not choice.guessed


@pytest.mark.parametrize(
    "descriptions",
    [
        None,
        ["Band 1", "Band 2", "band_3", "Layer 4"],
        ["1", "2", "3", "4"],
        ["Band_1:Band_1", "Band_2:Band_2", "Band_3:Band_3", "Band_4:Band_4"],
        ["surface", "surface", "surface", "surface"],
    ],
)
def test_order_counts_where_nothing_is_named_and_the_log_says_so(descriptions):
    choice = choose(descriptions=descriptions)
    assert choice.indexes == (1, 2, 3, 4)
    assert choice.notes == (
        "names no band: bands 1 to 4 are read as blue, green, red, nir, in this order",
    )
    assert not choice.guessed


def test_printing_inks_name_no_band():
    choice = choose(colors=("cyan", "magenta", "yellow", "black"))
    assert (choice.indexes, choice.guessed) == ((1, 2, 3, 4), False)


@pytest.mark.parametrize("descriptions", [None, ["red", "green", "blue", None]])
@pytest.mark.parametrize("fourth", ["alpha", "undefined"])
def test_the_one_band_left_is_the_one_missing_and_that_is_a_guess(descriptions, fourth):
    choice = choose(descriptions=descriptions, colors=("red", "green", "blue", fourth))
    assert choice.indexes == (3, 2, 1, 4)
    assert choice.guessed
    assert f"band 4, tagged {fourth}, is read as nir: data, not a mask" in choice.notes[0]


def test_the_one_band_left_is_not_taken_if_it_has_another_name():
    message = refusal(descriptions=["red", "green", "blue", "swir1"])
    assert message.startswith("has no band 'nir'; it has 4 bands (1 red, 2 green, 3 blue, 4 swir1)")


def test_default_colours_that_match_nothing_leave_the_order_with_a_warning():
    choice = choose(("b1", "b2", "b3", "b4"), colors=("red", "green", "blue", "alpha"))
    assert choice.indexes == (1, 2, 3, 4)
    assert choice.guessed
    assert choice.notes[0].startswith("has bands tagged red, green, blue, alpha; bands 1 to 4")


def test_too_few_bands_are_told_with_what_is_wanted_and_there():
    assert refusal(colors=("red", "green", "blue")) == (
        "has 3 bands (1 red, 2 green, 3 blue); the model reads 4: blue, green, red, nir"
    )


def test_two_bands_of_one_name_are_refused():
    message = refusal(wanted=("red",), descriptions=["red", "Red"], colors=UNTAGGED[:2])
    assert message.startswith("has several bands called 'red'")


def test_a_long_list_of_bands_is_told_in_short():
    count = 300
    message = refusal(
        descriptions=[f"wavelength {i}" for i in range(count)], colors=["gray"] * count
    )
    assert "it has 300 bands (1 wavelength 0, " in message
    assert "…" in message
    assert len(message) < 500


def test_the_jobs_bands_come_first_in_their_order():
    choice = choose(asked=[3, "nir", 1, 2], descriptions=["a", "b", "c", "nir"])
    assert choice == BandChoice((3, 4, 1, 2))


def test_an_alpha_band_that_the_job_names_is_read_without_a_doubt():
    choice = choose(asked=[1, 2, 3, 4], colors=("red", "green", "blue", "alpha"))
    assert choice == BandChoice((1, 2, 3, 4))


@pytest.mark.parametrize("band", [0, 5, -1, "swir"])
def test_a_band_of_the_job_that_is_not_there_is_told(band):
    assert refusal(asked=[1, 2, 3, band]).startswith(
        f"has no band {band!r}, which scenes.bands asks for; it has 4 bands"
    )


def test_the_job_must_give_as_many_bands_as_the_model_reads():
    assert "gives 3 of the 4 bands" in refusal(asked=[1, 2, 3])


def test_plain_names_keep_what_tells_bands_apart():
    assert plain("B10") == "b10"
    assert plain("B01") == plain("b1") == "b1"
    assert plain("NIR1") != plain("NIR")

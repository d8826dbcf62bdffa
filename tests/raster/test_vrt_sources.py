"""Sources of VRTs are looked at before a scene is started."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tiler.errors import SceneError
from tiler.raster import vrt_xml
from tiler.raster.describe import describe
from tiler.raster.vrt_sources import check_vrt_sources
from tiler.raster.vrt_xml import Source, vrt_sources

PIXELS = np.ones((2, 20, 30), "uint16")


def failure(path: Path) -> str:
    with pytest.raises(SceneError) as told:
        check_vrt_sources(path)
    message = str(told.value)
    assert "\n" not in message
    return message


def vrt(folder: Path, inner: str, name: str = "scene.vrt") -> Path:
    path = folder / name
    path.write_text(f'<VRTDataset rasterXSize="30" rasterYSize="20">{inner}</VRTDataset>')
    return path


def test_a_vrt_whose_sources_are_all_there_passes(make_raster, make_vrt):
    make_raster(PIXELS, "a.tif")
    make_raster(PIXELS, "b.tif")
    check_vrt_sources(make_vrt([[("a.tif", 2, 0, 30), ("b.tif", 1, 30, 30)]], 20, 60))


def test_relative_sources_are_found_from_any_folder(make_raster, make_vrt, monkeypatch):
    make_raster(PIXELS, "a.tif")
    path = make_vrt([[("a.tif", 1, 0, 30)]], 20, 30)
    monkeypatch.chdir("/")
    check_vrt_sources(path)


def test_a_missing_source_is_named(make_raster, make_vrt):
    make_raster(PIXELS, "a.tif")
    path = make_vrt([[("a.tif", 1, 0, 30), ("gone.tif", 1, 30, 30)]], 20, 60)
    assert failure(path) == (
        f"{path}: a source of this VRT is unfit: {path.parent}/gone.tif: does not exist"
    )


def test_a_scene_with_a_missing_source_is_refused_when_it_is_described(make_vrt):
    path = make_vrt([[("gone.tif", 1, 0, 30)]], 20, 30)
    with pytest.raises(SceneError, match=r"scene\.vrt: a source of this VRT is unfit: .*gone\.tif"):
        describe(path)


def test_a_source_that_is_no_raster_is_named(tmp_path, make_vrt):
    (tmp_path / "text.tif").write_text("no raster")
    message = failure(make_vrt([[("text.tif", 1, 0, 30)]], 20, 30))
    assert "text.tif: GDAL cannot open it as a raster" in message


def test_a_source_without_the_band_asked_for_is_named(make_raster, make_vrt):
    make_raster(PIXELS, "a.tif")
    message = failure(make_vrt([[("a.tif", 1, 0, 30)], [("a.tif", 3, 0, 30)]], 20, 30))
    assert message.endswith("a.tif, which has 2")
    assert "reads band 3" in message


def test_a_hole_in_a_nested_vrt_is_found(make_vrt):
    make_vrt([[("gone.tif", 1, 0, 30)]], 20, 30, "inner.vrt")
    outer = make_vrt([[("inner.vrt", 1, 0, 30)]], 20, 30, "outer.vrt")
    message = failure(outer)
    assert message.startswith(f"{outer}: ")
    assert "gone.tif" in message


def test_a_vrt_within_itself_is_refused(make_vrt):
    make_vrt([[("b.vrt", 1, 0, 30)]], 20, 30, "a.vrt")
    path = make_vrt([[("a.vrt", 1, 0, 30)]], 20, 30, "b.vrt")
    assert "is a source of itself" in failure(path)


def test_vrts_nested_too_deep_are_refused(make_raster, make_vrt):
    make_raster(PIXELS, "0.tif")
    path = make_vrt([[("0.tif", 1, 0, 30)]], 20, 30, "0.vrt")
    for depth in range(1, 10):
        path = make_vrt([[(f"{depth - 1}.vrt", 1, 0, 30)]], 20, 30, f"{depth}.vrt")
    assert "VRTs lie within VRTs more than 8 deep" in failure(path)


def test_a_source_inside_an_archive_is_left_to_gdal(tmp_path):
    path = vrt(
        tmp_path,
        '<VRTRasterBand dataType="Byte" band="1"><SimpleSource><SourceFilename>'
        f"/vsizip/{tmp_path}/gone.zip/a.tif</SourceFilename></SimpleSource></VRTRasterBand>",
    )
    assert "a source of this VRT is unfit: /vsizip/" in failure(path)


def test_a_missing_raw_file_is_named(tmp_path):
    path = vrt(
        tmp_path,
        '<VRTRasterBand dataType="Byte" band="1" subClass="VRTRawRasterBand">'
        '<SourceFilename relativetoVRT="1">pixels.bin</SourceFilename></VRTRasterBand>',
    )
    assert failure(path) == f"{path}: a source of this VRT is missing: {tmp_path}/pixels.bin"
    (tmp_path / "pixels.bin").write_bytes(b"0" * 600)
    check_vrt_sources(path)


@pytest.mark.parametrize(
    ("xml", "sources"),
    [
        (
            "<SimpleSource><SourceFilename>/a.tif</SourceFilename></SimpleSource>",
            [Source("/a.tif", relative=False, band=1)],
        ),
        (
            "<complexsource><SOURCEFILENAME RELATIVETOVRT='1'>a&amp;b.tif</SOURCEFILENAME>"
            "<SourceBand>3</SourceBand></complexsource>",
            [Source("a&b.tif", relative=True, band=3)],
        ),
        (
            "<SimpleSource><SourceFilename>m.tif</SourceFilename>"
            "<SourceBand>mask,1</SourceBand></SimpleSource>",
            [Source("m.tif", relative=False, band=0)],
        ),
        (
            "<GDALWarpOptions><SourceDataset relativeToVRT='1'>w.tif</SourceDataset>"
            "</GDALWarpOptions>",
            [Source("w.tif", relative=True, band=0)],
        ),
        ("<Overview><SourceFilename>o.ovr</SourceFilename></Overview>", []),
        ("<SourceBand>2</SourceBand>", []),
    ],
)
def test_sources_are_read_from_the_xml_as_gdal_does(tmp_path, xml, sources):
    assert list(vrt_sources(vrt(tmp_path, xml))) == sources


def test_entities_are_refused_before_they_expand(tmp_path):
    path = tmp_path / "laughs.vrt"
    entities = '<!ENTITY e0 "ha">' + "".join(
        f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 20)
    )
    path.write_text(
        f"<!DOCTYPE x [{entities}]><VRTDataset><SourceFilename>&e19;</SourceFilename></VRTDataset>"
    )
    assert failure(path) == f"{path}: this VRT declares a document type, which none needs"


def test_broken_xml_is_told(tmp_path):
    path = tmp_path / "broken.vrt"
    path.write_text("<VRTDataset><SourceFilename>")
    assert failure(path).startswith(f"{path}: this VRT is not valid XML: ")


def test_too_much_xml_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(vrt_xml, "MAX_XML_BYTES", 50)
    assert "this VRT has" in failure(vrt(tmp_path, ""))

"""Fixtures for tests of rasters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

MakeVrt = Callable[..., Path]


@pytest.fixture
def make_vrt(tmp_path: Path) -> MakeVrt:
    """A function that writes a VRT and returns its path.

    make_vrt(sources, height, width, name="scene.vrt", dtype="UInt16", nodata=None): `sources` has
    a list for each band, of (file name, its 1-based band, first column, its width); names are
    relative to the VRT. `nodata` has a value for each band.
    """

    def make(
        sources: Sequence[Sequence[tuple[str, int, int, int]]],
        height: int,
        width: int,
        name: str = "scene.vrt",
        dtype: str = "UInt16",
        nodata: Sequence[float] | None = None,
    ) -> Path:
        bands = ""
        for number, band in enumerate(sources, 1):
            inner = f"<NoDataValue>{nodata[number - 1]}</NoDataValue>" if nodata else ""
            for file, index, col, file_width in band:
                inner += f"""
                <SimpleSource>
                  <SourceFilename relativeToVRT="1">{file}</SourceFilename>
                  <SourceBand>{index}</SourceBand>
                  <SourceProperties RasterXSize="{file_width}" RasterYSize="{height}"
                                    DataType="{dtype}" BlockXSize="{file_width}" BlockYSize="16"/>
                  <SrcRect xOff="0" yOff="0" xSize="{file_width}" ySize="{height}"/>
                  <DstRect xOff="{col}" yOff="0" xSize="{file_width}" ySize="{height}"/>
                </SimpleSource>"""
            bands += f'<VRTRasterBand dataType="{dtype}" band="{number}">{inner}</VRTRasterBand>'
        path = tmp_path / name
        path.write_text(
            f'<VRTDataset rasterXSize="{width}" rasterYSize="{height}"><SRS>EPSG:32633</SRS>'
            f"<GeoTransform>400000, 10, 0, 5500000, 0, -10</GeoTransform>{bands}</VRTDataset>",
            encoding="utf-8",
        )
        return path

    return make

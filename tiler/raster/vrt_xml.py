"""The sources that a VRT's XML names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.parsers import expat

from tiler.errors import SceneError
from tiler.raster.opening import told

# A mosaic of 100 000 sources in 4 bands is about 250 MB of XML.
MAX_XML_BYTES = 512 * 2**20
# SourceFilename: simple, complex, raw and pansharpened sources; SourceDataset: warped VRTs.
_NAMES = ("sourcefilename", "sourcedataset")
# Elements whose SourceBand is 1 where it is not given.
_BAND_SOURCES = ("simplesource", "complexsource", "averagedsource", "kernelfilteredsource")


@dataclass(frozen=True)
class Source:
    """One input of a VRT as its XML names it.

    `relative`: to the VRT's folder; `band`: 1-based, 0 where no particular one is named;
    `raw`: the file's bytes are the pixels, it is no raster that GDAL could open.
    """

    name: str
    relative: bool
    band: int = 0
    raw: bool = False


def is_vrt(path: Path) -> bool:
    """Whether GDAL would take the file for a VRT, whatever its name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b"<VRTDataset" in file.read(1024)


def vrt_sources(path: Path) -> Iterator[Source]:
    """The sources that a VRT's XML names, those of overviews apart.

    The XML streams through, so that neither its size nor its depth costs memory.

    Raises SceneError where it is not well-formed, declares a document type (and with it,
    perhaps, entities) or is larger than MAX_XML_BYTES.
    """
    size = path.stat().st_size
    if size > MAX_XML_BYTES:
        raise SceneError(
            f"{told(path)}: this VRT has {size} bytes of XML; at most {MAX_XML_BYTES} are read"
        )
    parser = _SourceParser(path)
    try:
        with path.open("rb") as file:
            while chunk := file.read(2**20):
                yield from parser.feed(chunk)
        yield from parser.feed(b"", last=True)
    except expat.ExpatError as error:
        raise SceneError(f"{told(path)}: this VRT is not valid XML: {error}") from error


class _SourceParser:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[str] = []
        self._text: list[str] = []
        self._relative = False
        self._source: Source | None = None
        self._parent_depth = 0
        self._found: list[Source] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        self._parser.StartDoctypeDeclHandler = self._doctype

    def feed(self, chunk: bytes, last: bool = False) -> list[Source]:
        """The sources that end within this chunk."""
        self._parser.Parse(chunk, last)
        found = self._found[:]
        self._found.clear()
        return found

    def _doctype(self, *_: object) -> None:
        raise SceneError(f"{told(self._path)}: this VRT declares a document type, which none needs")

    # GDAL compares names of elements and attributes without case.
    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name.lower())
        self._text.clear()
        if self._open[-1] in _NAMES:
            given = {k.lower(): v.strip() for k, v in attributes.items()}
            self._relative = given.get("relativetovrt", "0") != "0"

    def _end(self, _: str) -> None:
        name, text = self._open.pop(), "".join(self._text).strip()
        self._text.clear()
        parent = self._open[-1] if self._open else ""
        if name in _NAMES and "overview" not in self._open:
            self._emit()
            band = 1 if parent in _BAND_SOURCES else 0
            self._source = Source(text, self._relative, band, raw=parent == "vrtrasterband")
            self._parent_depth = len(self._open)
        elif name == "sourceband" and self._source is not None:
            # "mask" and "mask,1" mean a mask, which every raster has.
            self._source = replace(self._source, band=int(text) if text.isdecimal() else 0)
        elif len(self._open) < self._parent_depth:
            self._emit()

    def _emit(self) -> None:
        if self._source is not None:
            self._found.append(self._source)
            self._source = None

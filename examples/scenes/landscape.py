"""A made-up landscape: relief, water, town, fields and woods as reflectances.

Everything is smooth noise and plain geometry, drawn from one seed. Arrays are [height, width],
rows count from the north; lengths are in pixels of 10 m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Reflectances of blue, green, red and near infrared: rough figures of the usual spectra.
CLEAR_WATER = (0.044, 0.034, 0.016, 0.008)
LAKE_SHORE = (0.070, 0.105, 0.078, 0.042)
SILTY_WATER = (0.078, 0.108, 0.096, 0.052)
SNOW = (0.90, 0.89, 0.87, 0.78)
ROCK = (0.098, 0.135, 0.172, 0.208)
SOIL = (0.080, 0.115, 0.165, 0.215)
SAND = (0.150, 0.205, 0.255, 0.300)
MEADOW = (0.050, 0.090, 0.085, 0.205)
STUBBLE = (0.085, 0.130, 0.150, 0.260)
PASTURE = (0.045, 0.085, 0.060, 0.300)
CROP = (0.030, 0.068, 0.035, 0.400)
BROADLEAF = (0.022, 0.046, 0.024, 0.300)
CONIFER = (0.018, 0.034, 0.020, 0.215)
ROOF = (0.155, 0.160, 0.170, 0.190)
STREET = (0.095, 0.100, 0.106, 0.122)
GARDEN = (0.060, 0.088, 0.085, 0.190)

# Row, column and radius.
TOWNS = ((1190, 1330, 200), (1420, 820, 70), (1010, 1640, 60), (1110, 520, 52), (560, 1720, 46))

SUN_HEIGHT, SUN_AZIMUTH = np.radians(41), np.radians(150)
# What the sky alone lends to a slope in shade, as a share of full light.
SHADE_LIGHT = 0.16


@dataclass(frozen=True)
class Stream:
    """Water that runs south from `col` in `first_row`, `slope` columns east for each row."""

    first_row: int
    last_row: int
    col: int
    half_width: float
    slope: float
    swing: float
    gravel: bool = False


STREAMS = (
    Stream(870, 1701, 1190, 7.5, 0.22, 26, gravel=True),
    Stream(600, 900, 640, 2.2, 0.088, 14),
    Stream(650, 1120, 1440, 2.4, -0.418, 14),
)


@dataclass(frozen=True)
class Canvas:
    """Pixel coordinates of the scene, and its noise."""

    height: int
    width: int
    random: np.random.Generator

    @property
    def row(self) -> Field:
        return np.arange(self.height, dtype=float)[:, None]

    @property
    def col(self) -> Field:
        return np.arange(self.width, dtype=float)[None, :]

    def noise(self, longest_px: float, roughness: float = 2.0) -> Field:
        """Smooth noise of mean 0 and deviation 1: amplitudes fall with frequency ** -`roughness`,
        and waves longer than `longest_px` are flat."""
        # A margin, because such noise repeats itself.
        height, width = self.height + 200, self.width + 200
        down = np.fft.fftfreq(height)[:, None]
        across = np.fft.rfftfreq(width)[None, :]
        frequency = np.maximum(np.hypot(down, across), 1 / longest_px)
        white = np.fft.rfft2(self.random.standard_normal((height, width)))
        field = np.fft.irfft2(white * frequency**-roughness, (height, width))
        field = field[: self.height, : self.width]
        return (field - field.mean()) / field.std()


def landscape(height: int, width: int, seed: int) -> Field:
    """Reflectances [4, height, width] in blue, green, red, near infrared.

    Places are fixed for a scene of about 1700 x 2000 pixels.
    """
    canvas = Canvas(height, width, np.random.default_rng(seed))
    relief = make_relief(canvas)
    depth = lake_depth(canvas, relief)
    light, shade = sunlight(np.where(depth > 0, 0, relief))

    image = farmland(canvas)
    paint_woods(image, canvas, relief)
    paint_heights(image, canvas, relief)
    paint_towns(image, canvas, relief)
    paint_roads(image, canvas)
    paint_lake(image, canvas, depth)
    paint_streams(image, canvas, depth)
    image *= np.where(shade, SHADE_LIGHT, light)
    paint_snow(image, canvas, relief, light, shade)
    image *= 1 + 0.008 * canvas.noise(20, 1.2)
    return blurred(image)


def make_relief(canvas: Canvas) -> Field:
    """Elevations in pixels: a range in the north-west over a plain."""
    row, col = canvas.row, canvas.col
    bend = 60 * canvas.noise(700)
    along = (col - 250) / 1150
    from_crest = row - (640 - 400 * along - 130 * np.sin(3.0 * along)) + bend
    fade = 1 / (1 + np.exp((col - 1500) / 90))
    rise = np.exp(-((from_crest / 250) ** 2)) * fade
    crests = 1 - np.abs(canvas.noise(260, 2.1)) / 1.5
    detail = 0.5 * crests + 0.5 * (1 - np.abs(canvas.noise(110, 2.0)) / 1.5)
    plain = 1.2 * canvas.noise(400, 2.4)
    return 135 * rise * (0.72 + 0.42 * detail) + plain


def sunlight(relief: Field) -> tuple[Field, Mask]:
    """Light on each slope, 1 on flat ground, and where a mountain takes the sun away."""
    steepness = np.tan(SUN_HEIGHT)
    down_sun, across_sun = -np.cos(SUN_AZIMUTH), np.sin(SUN_AZIMUTH)
    down, across = np.gradient(relief)
    toward_sun = (down * down_sun + across * across_sun) / steepness
    light = (1 - toward_sun) / np.sqrt(1 + across**2 + down**2)
    height, width = relief.shape
    reach = 100
    around = np.pad(relief, reach)
    shade = light < SHADE_LIGHT
    for step in range(3, reach, 3):
        row, col = reach + round(step * down_sun), reach + round(step * across_sun)
        shade |= around[row : row + height, col : col + width] - relief > step * steepness
    return np.clip(light, SHADE_LIGHT, 1.5), shade


def lake_depth(canvas: Canvas, relief: Field) -> Field:
    """Depth of the lakes; negative on land, about one for each pixel from the shore."""
    row, col = canvas.row, canvas.col
    shore = 26 * canvas.noise(220, 1.9)
    large = 150 * (1 - np.hypot((col - 900) / 370, (row - 905 + 0.16 * (col - 900)) / 130))
    small = 50 * (1 - np.hypot((col - 1560) / 95, (row - 640) / 60))
    pond = 30 * (1 - np.hypot((col - 560) / 60, (row - 1330) / 40))
    return np.maximum.reduce([large, small, pond]) + shore - 0.5 * np.maximum(relief - 12, 0)


def farmland(canvas: Canvas) -> Field:
    """Fields in strips; each district has its own direction."""
    centres = canvas.random.uniform(0, 1, (26, 2)) * (canvas.height, canvas.width)
    warp = 14 * canvas.noise(200)
    far = [
        np.hypot(canvas.row - r, canvas.col - c) + warp * (i % 3)
        for i, (r, c) in enumerate(centres)
    ]
    district = np.argmin(far, axis=0)

    angle = canvas.random.uniform(0, np.pi, len(centres))[district]
    wide = canvas.random.uniform(26, 52, len(centres))[district]
    across = canvas.col * np.cos(angle) + canvas.row * np.sin(angle)
    along = canvas.row * np.cos(angle) - canvas.col * np.sin(angle)
    strip = np.floor(across / wide).astype(int)
    long = wide * (1.6 + scattered(strip, district, 1))
    field = np.floor(along / long + scattered(strip, district, 2)).astype(int)
    kind = scattered(field * 7919 + strip, district, 3)
    vigour = scattered(field * 7919 + strip, district, 4)

    image = np.empty((4, canvas.height, canvas.width))
    shares = (
        (0.30, CROP, PASTURE),
        (0.50, PASTURE, MEADOW),
        (0.76, STUBBLE, MEADOW),
        (1.0, SOIL, SAND),
    )
    low = 0.0
    for high, first, second in shares:
        paint(image, (kind >= low) & (kind < high), blend(first, second, 0.6 * vigour))
        low = high
    image *= 1 + 0.05 * canvas.noise(80, 2.0)
    return image


def paint_woods(image: Field, canvas: Canvas, relief: Field) -> None:
    hills = np.clip((relief - 4) / 14, 0, 1)
    wooded = canvas.noise(260, 1.8) + 2.6 * hills > 1.25
    conifers = np.clip(relief / 50 + 0.4 * canvas.noise(120), 0, 1)
    texture = 1 + 0.06 * canvas.noise(16, 1.8)
    paint(image, wooded, blend(BROADLEAF, CONIFER, conifers) * texture)


def paint_heights(image: Field, canvas: Canvas, relief: Field) -> None:
    level = relief + 7 * canvas.noise(90, 1.6)
    grass = level > 66
    bare = np.clip((level - 84) / 8, 0, 1)
    texture = 1 + 0.08 * canvas.noise(14, 1.2)
    paint(image, grass, blend(MEADOW, ROCK, bare) * texture)


def paint_snow(image: Field, canvas: Canvas, relief: Field, light: Field, shade: Mask) -> None:
    """Snow lights its own shade: less than half of the light is ever missing."""
    level = relief + 6 * canvas.noise(90, 1.9)
    cover = np.clip((level - 100) / 4, 0, 1)
    on_snow = np.where(shade, 0.56, np.clip(0.36 + 0.5 * light, 0.56, 1.06))
    snow = np.asarray(SNOW)[:, None, None] * on_snow
    image += cover * (snow - image)


def paint_towns(image: Field, canvas: Canvas, relief: Field) -> None:
    row, col = canvas.row, canvas.col
    ragged = 0.16 * canvas.noise(120, 1.6)
    density = np.full((canvas.height, canvas.width), -0.12)
    for at_row, at_col, radius in TOWNS:
        density = np.maximum(density, 1.25 - np.hypot(row - at_row, col - at_col) / radius)
    density += ragged

    across, along = 0.94 * col + 0.34 * row, 0.94 * row - 0.34 * col
    block = (np.floor(across / 17).astype(int), np.floor(along / 13).astype(int))
    street = (across % 17 < 2) | (along % 13 < 2)
    house = (np.floor(across / 3.4).astype(int), np.floor(along / 3.25).astype(int))
    built = scattered(*house, 5) < np.clip(0.25 + 0.9 * density, 0, 0.93)
    park = scattered(*block, 6) < 0.09
    roof = np.asarray(ROOF)[:, None, None] * (0.72 + 0.62 * scattered(*house, 7))
    town = (density > 0.28) & (relief < 9)
    ground = np.where(
        park, blend(BROADLEAF, PASTURE, scattered(*block, 8)), blend(GARDEN, PASTURE, 0)
    )
    paint(image, town, np.where(built & ~park, roof, ground))
    paint(image, town & street, blend(STREET, STREET, 0))


def paint_roads(image: Field, canvas: Canvas) -> None:
    """Two roads that cross in the largest town."""
    row, col = canvas.row, canvas.col
    for slope, wave in ((0.10, 45), (-0.42, 30)):
        line = 1190 + slope * (col - 1330) + wave * np.sin((col - 1330) / 260)
        paint(image, np.abs(row - line) < 1.6, blend(STREET, STREET, 0))


def paint_lake(image: Field, canvas: Canvas, depth: Field) -> None:
    beach = (depth > -7) & (canvas.noise(160) > 0.35)
    paint(image, beach, blend(SAND, SOIL, 0.3))
    shallow = np.exp(-np.maximum(depth, 0) / 11)
    paint(image, depth > 0, blend(CLEAR_WATER, LAKE_SHORE, shallow))


def paint_streams(image: Field, canvas: Canvas, depth: Field) -> None:
    row = canvas.row
    for stream in STREAMS:
        line = stream.col + stream.slope * (row - stream.first_row)
        line = line + stream.swing * (np.sin(row / 47) + 1.6 * np.sin(row / 131 + stream.col))
        away = np.abs(canvas.col - line) / np.hypot(1, np.gradient(line, axis=0))
        here = (row >= stream.first_row) & (row < stream.last_row) & (depth <= 0)
        if stream.gravel:
            banks = (canvas.noise(70) > 0.7) & (away < 2.1 * stream.half_width)
            paint(image, here & banks, blend(SAND, ROCK, 0.4))
        water = blend(SILTY_WATER, LAKE_SHORE, np.clip(away / stream.half_width, 0, 1))
        paint(image, here & (away < stream.half_width), water)


def blend(first: tuple[float, ...], second: tuple[float, ...], share: Field | float) -> Field:
    """Reflectances [4, ...] between two spectra; `share` is the second's."""
    a, b = (np.asarray(s)[:, None, None] for s in (first, second))
    return a + np.asarray(share) * (b - a)


def paint(image: Field, here: Mask, color: Field) -> None:
    np.copyto(image, color, where=here)


def scattered(a: NDArray[np.int_], b: NDArray[np.int_], salt: int) -> Field:
    """A number from 0 to 1 for each pair of integers, as if drawn at random."""
    mixed = (a * 73856093) ^ (b * 19349663) ^ (salt * 83492791)
    mixed = (mixed ^ (mixed >> 13)) * 1274126177 & 0x7FFFFFFF
    return ((mixed ^ (mixed >> 11)) % 65536) / 65536


def blurred(image: Field) -> Field:
    """A little blur, as optics give: each pixel takes some light from its neighbours."""
    for axis in (1, 2):
        image = 0.7 * image + 0.15 * (np.roll(image, 1, axis) + np.roll(image, -1, axis))
    return image

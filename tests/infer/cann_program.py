"""One CANN session from opening to closing, in a process of its own; told and telling in JSON.

The one argument says: card, size_px, device (options of DeviceSpec), labels (a file to write),
tiles (how many random ones to label), lost_file and lost_at (a file to make, and before which
tile). See `CannRunner` for what is told.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.infer.small_models import random_tiles
from tiler.errors import TilerError
from tiler.infer.model import read_model
from tiler.infer.open import open_session
from tiler.infer.session import DeviceSpec
from tiler.job.card import load_card


def main(asked: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"placement": None, "error": None, "tile_errors": []}
    for module in asked["imported"]:
        sys.modules[module] = type(sys)(module)
    try:
        model = read_model(load_card(Path(asked["card"])), asked["size_px"])
        device = asked["device"]
        device["cache_dir"] = device["cache_dir"] and Path(device["cache_dir"])
        session = open_session(model, DeviceSpec("cann", **device))
        placement = session.warm_up()
        told["placement"] = dataclasses.asdict(placement)
        told["summary"] = placement.summary()
    except TilerError as error:
        return {**told, "error": str(error), "exit_code": error.exit_code}
    labels = []
    tiles = random_tiles(asked["tiles"], asked["size_px"])
    for first in range(0, len(tiles), session.batch):
        if asked["lost_file"] and first == asked["lost_at"]:
            Path(asked["lost_file"]).touch()
        try:
            labels.append(session.label(tiles[first : first + session.batch]))
        except TilerError as error:
            told["tile_errors"].append([first, str(error)])
    if labels:
        np.save(asked["labels"], np.concatenate(labels))
    session.close()
    return {**told, "cwd": str(Path.cwd())}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))

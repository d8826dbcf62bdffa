"""Compiled models are made once, and never run for anything but what they were made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.infer.cann_runner import CannRunner, Ended
from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import conv_model
from tests.infer.test_cann import on_cpu
from tiler.infer.om_cache import cache_folder, cache_key, compiled_model
from tiler.job.card import LoadedCard


@pytest.fixture
def card(make_onnx: MakeOnnx, make_card: MakeCard) -> LoadedCard:
    return make_card(make_onnx())


def compilations(ended: Ended) -> int:
    assert ended.error is None
    return len(ended.calls("aclgrphBuildModel"))


def test_the_second_run_compiles_nothing(run_cann: CannRunner, card: LoadedCard) -> None:
    first, second = run_cann(card, tiles=1), run_cann(card, tiles=1)
    assert (compilations(first), compilations(second)) == (1, 0)
    assert len(second.calls("aclmdlLoadFromFile")) == 1
    assert second.labels is not None
    np.testing.assert_array_equal(second.labels, on_cpu(card, 1))
    assert first.placement is not None
    assert second.placement is not None
    assert first.placement["compiled"] == second.placement["compiled"]


def test_another_device_of_the_same_kind_compiles_nothing(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    run_cann(card, id=0)
    assert compilations(run_cann(card, id=1)) == 0


def test_four_workers_at_once_compile_once(run_cann: CannRunner, card: LoadedCard) -> None:
    slow = {"devices": 4, "build_ms": 300, "save_ms": 300}
    started = [run_cann.start(card, id=i, tiles=1, switches=dict(slow)) for i in range(4)]
    ended = [run_cann.end(s) for s in started]
    assert sorted(compilations(e) for e in ended) == [0, 0, 0, 1]
    expected = on_cpu(card, 1)
    for e in ended:
        assert e.labels is not None
        np.testing.assert_array_equal(e.labels, expected)


def test_new_weights_under_the_same_path_and_names_give_the_new_models_labels(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    run_cann(card)
    before = on_cpu(card, 2)
    onnx.save(conv_model(seed=9), card.onnx_file)
    ended = run_cann(card, tiles=2)
    assert compilations(ended) == 1
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 2))
    assert (ended.labels != before).any()


def test_another_precision_mode_is_compiled_anew(run_cann: CannRunner, card: LoadedCard) -> None:
    run_cann(card)
    assert compilations(run_cann(card, options={"precision_mode": "force_fp16"})) == 1


def test_another_chip_is_compiled_for_anew(run_cann: CannRunner, card: LoadedCard) -> None:
    run_cann(card)
    assert compilations(run_cann(card, switches={"soc": "Ascend310P3"})) == 1
    assert compilations(run_cann(card)) == 0


def test_another_batch_is_compiled_for_anew(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    card = make_card(make_onnx(batch="batch"))
    run_cann(card, batch=1)
    assert compilations(run_cann(card, batch=2)) == 1


def test_everything_that_decides_counts_in_the_key() -> None:
    made_of = {"model": "a", "input": [1, 4, 8, 8], "runtime": "1.22.1", "toolkit": "8.2"}
    keys = {cache_key(made_of)} | {cache_key({**made_of, name: "other"}) for name in made_of}
    assert len(keys) == 1 + len(made_of)


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_file_cut_short_is_rebuilt(run_cann: CannRunner, card: LoadedCard, keep: int) -> None:
    run_cann(card)
    (file,) = run_cann.compiled_files()
    file.write_bytes(file.read_bytes()[:keep])
    ended = run_cann(card, tiles=1)
    assert compilations(ended) == 1
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 1))
    assert compilations(run_cann(card)) == 0


def test_a_foreign_file_in_its_place_is_rebuilt(
    run_cann: CannRunner, card: LoadedCard, make_card: MakeCard, tmp_path: Path
) -> None:
    other = tmp_path / "other.onnx"
    onnx.save(conv_model(seed=9), other)
    run_cann(make_card(other))
    (foreign,) = run_cann.compiled_files()
    content = foreign.read_bytes()
    run_cann(card)
    (file,) = (f for f in run_cann.compiled_files() if f != foreign)
    file.write_bytes(content)
    ended = run_cann(card, tiles=1)
    assert compilations(ended) == 1
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 1))


def test_a_foreign_file_beside_it_is_not_run(run_cann: CannRunner, card: LoadedCard) -> None:
    run_cann(card)
    (file,) = run_cann.compiled_files()
    (file.parent / f"0{file.name}").write_bytes(file.read_bytes())
    assert compilations(run_cann(card)) == 1
    assert run_cann.compiled_files() == [file]


def test_a_run_that_was_killed_while_it_saved_leaves_nothing_to_be_trusted(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    process, _ = run_cann.start(card, switches={"fault": "aclmdlLoadFromMem=exit1"})
    process.wait()
    assert len(run_cann.compiled_files()) == 1
    assert compilations(run_cann(card)) == 1


def test_a_whole_file_that_cannot_be_loaded_is_rebuilt_once(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    run_cann(card)
    once = run_cann(card, tiles=1, switches={"fault": "aclmdlLoadFromFile:1=100013"})
    assert compilations(once) == 1
    assert once.labels is not None
    np.testing.assert_array_equal(once.labels, on_cpu(card, 1))


def test_a_failure_of_the_device_does_not_cost_the_compiled_model(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    run_cann(card)
    failed = run_cann(card, switches={"fault": "task.exec=507015"})
    assert failed.exit_code == 3
    assert compilations(run_cann(card)) == 0


def test_a_cache_that_cannot_be_written_is_told(
    run_cann: CannRunner, card: LoadedCard, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = run_cann(card, cache_dir=str(tmp_path / "file" / "cache"))
    assert ended.exit_code == 3
    assert ended.error is not None
    assert "device.cache_dir" in ended.error


def test_the_cache_is_the_users_own_unless_asked_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder(None) == tmp_path / "tiler"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder(None) == tmp_path / ".cache" / "tiler"
    assert cache_folder(tmp_path / "mine") == tmp_path / "mine"


def test_the_folder_is_private_and_the_working_directory_comes_back(tmp_path: Path) -> None:
    before = Path.cwd()
    with compiled_model(tmp_path / "cache", "key") as compiled:
        assert compiled.folder.stat().st_mode & 0o777 == 0o700
        with compiled.as_working_directory():
            assert Path.cwd() == compiled.folder
        assert Path.cwd() == before

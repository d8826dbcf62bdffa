"""How many devices there are, for `ids: all`."""

from __future__ import annotations

import pytest

from tests.ascend_sim.environment import SwitchValue
from tests.ascend_sim.fixtures import AscendEnv
from tiler.errors import DeviceError
from tiler.infer.open import count_devices


def use(monkeypatch: pytest.MonkeyPatch, ascend_env: AscendEnv, **switches: SwitchValue) -> None:
    for name, value in ascend_env(**switches).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("count", [0, 1, 8])
def test_the_runtime_is_asked(
    monkeypatch: pytest.MonkeyPatch, ascend_env: AscendEnv, count: int
) -> None:
    use(monkeypatch, ascend_env, devices=count)
    assert count_devices("cann") == count


def test_missing_libraries_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    with pytest.raises(DeviceError, match=r"libascendcl\.so: cannot open shared object file"):
        count_devices("cann")


@pytest.mark.parametrize("call", ["aclInit", "aclrtGetDeviceCount"])
def test_a_failing_call_is_told(
    monkeypatch: pytest.MonkeyPatch, ascend_env: AscendEnv, call: str
) -> None:
    use(monkeypatch, ascend_env, fault=f"{call}=507000")
    with pytest.raises(DeviceError, match=f"{call} failed with 507000"):
        count_devices("cann")


def test_a_crash_is_told(monkeypatch: pytest.MonkeyPatch, ascend_env: AscendEnv) -> None:
    use(monkeypatch, ascend_env, fault="aclInit=segv")
    with pytest.raises(DeviceError, match="the devices cannot be counted"):
        count_devices("cann")

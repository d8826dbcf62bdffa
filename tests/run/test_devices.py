"""Which devices get work, after failures."""

from tiler.run.devices import MOST_STRIKES, DevicePool


def test_a_device_that_fails_three_times_in_a_row_is_set_aside() -> None:
    pool = DevicePool(["a", "b"])
    pool.take("a")
    assert [pool.has_failed("a", counts=True) for _ in range(MOST_STRIKES)] == [True, True, False]
    assert (pool.left, pool.idle) == (1, ("b",))


def test_a_part_done_in_between_makes_it_good_again() -> None:
    pool = DevicePool(["a"])
    for _ in range(2 * MOST_STRIKES):
        pool.take("a")
        assert pool.has_failed("a", counts=True)
        pool.is_ready("a")
        pool.take("a")
        pool.has_done("a")
    assert pool.left == 1


def test_a_part_that_fails_again_and_again_does_not_cost_a_device() -> None:
    pool = DevicePool(["a"])
    assert pool.has_failed("a", counts=True)
    assert all(pool.has_failed("a", counts=False) for _ in range(10))


def test_the_longest_idle_device_is_first() -> None:
    pool = DevicePool(["a", "b", "c"])
    pool.take("a")
    pool.has_done("a")
    assert pool.idle == ("b", "c", "a")

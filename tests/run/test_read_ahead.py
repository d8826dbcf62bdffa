"""Reading ahead changes nothing but when things happen."""

import threading
from collections.abc import Generator

import pytest

from tiler.run.read_ahead import read_ahead


def test_items_come_in_order() -> None:
    with read_ahead((i for i in range(100)), 3) as items:
        assert list(items) == list(range(100))


def test_items_are_made_in_another_thread_at_most_depth_ahead() -> None:
    made: list[str] = []

    def make() -> Generator[int, None, None]:
        for i in range(10):
            made.append(threading.current_thread().name)
            yield i

    with read_ahead(make(), 2) as items:
        next(items)
        # Two wait in the queue, one is about to.
        assert len(made) <= 4
        list(items)
    assert set(made) == {"read-ahead"}


def test_an_error_is_raised_where_its_item_would_have_come() -> None:
    def make() -> Generator[int, None, None]:
        yield 1
        raise OSError("no more")

    with read_ahead(make(), 4) as items:
        assert next(items) == 1
        with pytest.raises(OSError, match="no more"):
            next(items)


def test_leaving_early_ends_the_thread_and_closes_what_it_read() -> None:
    closed = []

    def make() -> Generator[int, None, None]:
        try:
            yield from range(1000)
        finally:
            closed.append(threading.current_thread().name)

    with read_ahead(make(), 2) as items:
        next(items)
    assert closed == ["read-ahead"]
    assert "read-ahead" not in {t.name for t in threading.enumerate()}

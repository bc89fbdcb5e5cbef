"""Slow listeners cost nothing but their own news."""

import asyncio

from inspectd.web.hub import Hub


def test_a_slow_listener_misses_news_and_holds_one() -> None:
    """A thousand news later it has one in memory, the latest."""

    async def main() -> tuple[bytes, int]:
        hub = Hub()
        with hub.listening() as listener:
            for number in range(1000):
                hub.publish(b"%d" % number)
            return await listener.get(), listener.missed

    assert asyncio.run(main()) == (b"999", 999)


def test_a_new_listener_has_the_latest_at_once() -> None:
    """Nobody looks at an empty page for half a second."""

    async def main() -> bytes:
        hub = Hub()
        hub.publish(b"before")
        with hub.listening() as listener:
            return await listener.get()

    assert asyncio.run(main()) == b"before"


def test_the_number_of_listeners_is_bounded() -> None:
    """And a place is free again when one leaves."""

    async def main() -> tuple[bool, bool]:
        hub = Hub(1)
        with hub.listening():
            was_full = hub.is_full
        return was_full, hub.is_full

    assert asyncio.run(main()) == (True, False)

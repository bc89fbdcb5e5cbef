"""How often a password may be tried."""

from inspectd.web.throttle import FAILURES_MAX, KEYS_MAX, WINDOW_NS, Throttle


def test_after_some_failures_one_must_wait() -> None:
    """Until the first of them is old enough."""
    throttle = Throttle()
    for number in range(FAILURES_MAX):
        assert throttle.wait_s(["anna"], number) == 0
        throttle.failed(["anna"], number)
    assert throttle.wait_s(["anna"], FAILURES_MAX) == WINDOW_NS // 10**9
    assert throttle.wait_s(["anna"], WINDOW_NS) == 0


def test_others_need_not_wait() -> None:
    """Each name and each address counts for itself."""
    throttle = Throttle()
    for _ in range(FAILURES_MAX):
        throttle.failed(["anna", "address a"], 0)
    assert throttle.wait_s(["bert", "address b"], 1) == 0
    assert throttle.wait_s(["bert", "address a"], 1) > 0


def test_the_right_password_forgets_the_wrong_ones() -> None:
    """A person who mistypes now and then is not locked out."""
    throttle = Throttle()
    for _ in range(FAILURES_MAX):
        throttle.failed(["anna"], 0)
    throttle.succeeded(["anna"])
    assert throttle.wait_s(["anna"], 1) == 0


def test_memory_is_bounded_and_a_flood_makes_all_wait() -> None:
    """Ten thousand names leave a thousand."""
    throttle = Throttle()
    for number in range(10 * KEYS_MAX):
        throttle.failed([f"name {number}"], number)
    assert len(throttle._failures) == KEYS_MAX
    assert throttle.wait_s(["somebody else"], 10 * KEYS_MAX) > 0
    assert throttle.wait_s(["somebody else"], 2 * WINDOW_NS) == 0

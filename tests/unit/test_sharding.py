"""Stories dealt out by the time they took."""

from hypothesis import given, strategies as st

from capture_consumer.builds.sharding import deal, weigh


def even(stories: int, ms: float) -> dict[str, float]:
    return {f"story-{number:05}": ms for number in range(stories)}


def test_a_shard_takes_twenty_to_sixty_seconds():
    """BUILD-32."""
    dealt = deal(even(600, 500), consumers=2)

    assert all(20_000 <= weight <= 60_000 for weight in dealt.weights_ms)


def test_there_are_at_least_as_many_shards_as_consumers():
    """BUILD-32."""
    assert len(deal(even(100, 500), consumers=6).weights_ms) == 6


def test_what_is_too_little_for_all_consumers_is_not_cut_below_five_seconds():
    """BUILD-32."""
    assert len(deal(even(24, 500), consumers=6).weights_ms) == 2
    assert len(deal(even(3, 100), consumers=6).weights_ms) == 1


def test_one_endless_story_does_not_leave_the_others_crumbs():
    """BUILD-32."""
    dealt = deal({"endless": 300_000, **even(12, 1_000)}, consumers=8)

    assert dealt.weights_ms == (300_000, 6_000, 6_000)


def test_there_are_at_most_sixty_four_shards():
    """BUILD-32."""
    assert len(deal(even(10_000, 1_000), consumers=100).weights_ms) == 64


def test_the_longest_goes_first_into_the_lightest():
    """BUILD-32."""
    dealt = deal({"a": 9_000, "b": 8_000, "c": 7_000, "d": 6_000}, consumers=2)

    assert dealt.shard_of == {"a": 0, "b": 1, "c": 1, "d": 0}
    assert dealt.weights_ms == (15_000, 15_000)


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.floats(1, 90_000), min_size=1),
    st.integers(1, 9),
)
def test_every_story_is_dealt_once_and_no_shard_is_empty(weights, consumers):
    """BUILD-32, BUILD-34."""
    dealt = deal(weights, consumers=consumers)

    assert dealt.shard_of.keys() == weights.keys()
    assert set(dealt.shard_of.values()) == set(range(len(dealt.weights_ms)))
    assert deal(dict(reversed(weights.items())), consumers=consumers) == dealt


def test_a_key_that_was_never_captured_weighs_what_others_do():
    """BUILD-32."""
    old, new = ("a", "{}", "chromium"), ("b", "{}", "chromium")

    assert weigh({"a": (old,), "b": (new, old)}, {old: 300.0}) == {"a": 300, "b": 600}
    assert weigh({"b": (new,)}, {}) == {"b": 1_000}

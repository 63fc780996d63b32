"""What handlers and doors are told is what the rows say."""

import pytest
from sqlalchemy import insert

from capture_consumer.builds.baselines import choose
from capture_consumer.builds.effects import (
    CommitTold,
    EndBuild,
    EndShard,
    RecordOutcomes,
    Ruled,
)
from capture_consumer.clock import boot_seconds
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import BadInput, NotFound
from capture_consumer.records.facts import RowFacts
from capture_consumer.tables import commits, images, projects
from capture_consumer.tables.attempts import job_attempts
from tests.made import (
    MODE,
    build_of,
    captured,
    capturing,
    finished,
    image,
    opened,
    reducing,
    sha,
    shards_of,
    snapshots_of,
    written,
)

A, B, C = "a" * 40, "b" * 40, "c" * 40


@pytest.fixture
def facts(engine, clock):
    return RowFacts(engine, clock)


def died(engine, clock, build_id, attempt, story, **values):
    row = {
        "job_id": f"shard:{build_id}:0",
        "attempt": attempt,
        "owner": "x",
        "started_at": clock.now(),
        "lease_until": clock.now(),
        "ended_at": clock.now(),
        "outcome": "crashed",
        "story": story,
        "explained": False,
    }
    with transaction(engine) as tx:
        tx.execute(insert(job_attempts).values(**(row | values)))


def stories(found):
    return [one.key.story_id for one in found]


def test_what_is_planned_comes_by_story_and_ended_ones_are_left_out(engine, clock, facts):
    """BUILD-33."""
    build_id = capturing(engine, clock, ["c", "B", "ä", "a"], ["z"])
    first, second = shards_of(engine, build_id)
    captured(engine, clock, build_id, second.id)

    assert stories(facts.planned(first.id)) == ["B", "a", "c", "ä"]
    assert facts.planned(second.id) == []
    assert facts.planned(404) == []


def test_stories_to_blame_come_last_and_explained_ends_do_not_count(engine, clock, facts):
    """SUP-45."""
    build_id = capturing(engine, clock, ["a", "b", "c", "d", "e"])
    died(engine, clock, build_id, 1, "a")
    died(engine, clock, build_id, 2, "a", outcome="timed_out")
    died(engine, clock, build_id, 3, "b", outcome="lost")
    died(engine, clock, build_id, 4, "c", explained=True)
    died(engine, clock, build_id, 5, "d", outcome="failed")

    found = facts.planned(shards_of(engine, build_id)[0].id)

    assert [(one.key.story_id, one.deaths) for one in found] == [
        ("c", 0),
        ("d", 0),
        ("e", 0),
        ("b", 1),
        ("a", 2),
    ]


@pytest.mark.parametrize(
    ("outcome", "saves"), [("crashed", True), ("lost", True), ("failed", False)]
)
def test_a_job_that_crashed_or_was_lost_saves_before_each_story(
    engine, clock, facts, outcome, saves
):
    """R6, BUILD-12."""
    build_id = capturing(engine, clock, ["a"])
    died(engine, clock, build_id, 1, None, outcome=outcome)

    assert facts.crashed_before(f"shard:{build_id}:0") is saves


def test_progress_counts_what_has_ended(engine, clock, facts):
    build_id = capturing(engine, clock, ["a", "b"], ["c"])
    _first, second = shards_of(engine, build_id)
    captured(engine, clock, build_id, second.id)

    assert tuple(facts.progress(build_id)) == (1, 3, 0, 0)


def test_durations_are_medians_of_the_last_builds_of_the_line(engine, clock, facts):
    """BUILD-32."""
    for number in range(3):
        reducing(engine, clock, ["a"], nonce=str(number))
    build_id = opened(engine, clock, nonce="now")

    assert facts.durations(build_id) == {("a", MODE, "chromium"): 0.0}
    assert facts.durations(opened(engine, clock, nonce="else", name="docs")) == {}


def test_keys_images_and_files_of_nobody_are_empty(facts):
    assert facts.build(404) is None
    assert facts.shard(404) is None
    assert facts.files(404) == []
    assert facts.snapshots(404) == []
    assert facts.key_ids(404, {("a", "b", "c")}) == {}
    assert facts.durations(404) == {}
    assert facts.images([404]) == {}
    assert facts.keys([404]) == {}
    assert facts.comparisons([(1, 2)], sha("rule")) == {}
    assert facts.history(404).built == {}
    assert facts.consumers() == 1


def test_keys_and_images_are_found_by_id_and_by_name(engine, clock, facts):
    build_id = reducing(engine, clock, ["a"])
    one = facts.snapshots(build_id)[0]

    assert facts.key_ids(build_id, {("a", MODE, "chromium"), ("b", MODE, "chromium")}) == {
        ("a", MODE, "chromium"): one.key.id
    }
    assert facts.keys([one.key.id])[one.key.id] == one.key
    assert one.image
    assert facts.images([one.image.id])[one.image.id] == one.image


def graph(*pairs):
    return tuple(CommitTold(sha_, parents) for sha_, parents in pairs)


def test_history_has_the_commits_above_and_the_builds_on_them(engine, clock, facts):
    """BUILD-52, BUILD-24."""
    chain = graph((C, (B,)), (B, (A,)), (A, None), ("d" * 40, (A,)))
    old = finished(engine, clock, nonce="1", commit=A, branch="main", commits=chain)
    build_id = opened(engine, clock, nonce="2", commit=C)

    history = facts.history(build_id)

    assert history.parents == {C: (B,), B: (A,), A: None}
    assert [one.build_id for one in history.built[A]] == [old]
    assert history.latest == history.on_base == history.built[A][0]
    chosen = choose(build_of(engine, build_id), history)
    assert (chosen.reason, chosen.build) == ("ancestor", history.latest)


def test_a_merge_and_a_criss_cross_are_walked_once_each(engine, clock, facts):
    """B-7: two roots, an octopus, a commit that two others share."""
    names = {name: name * 40 for name in "0123456789"}
    told = graph(
        (names["9"], (names["8"], names["7"], names["6"])),
        (names["8"], (names["5"],)),
        (names["7"], (names["5"], names["4"])),
        (names["6"], ()),
        (names["5"], ()),
    )
    build_id = opened(engine, clock, nonce="1", commit=names["9"], commits=told)

    parents = facts.history(build_id).parents

    assert set(parents) == {names[name] for name in "987654"}
    assert parents[names["4"]] is None
    assert parents[names["6"]] == ()


def test_a_commit_that_nobody_told_is_the_horizon(engine, clock, facts):
    """BUILD-52, BUILD-55."""
    assert facts.history(opened(engine, clock, commit=A)).parents == {A: None}
    assert facts.history(opened(engine, clock, nonce="2")).parents == {}


@pytest.mark.slow
def test_a_history_of_a_hundred_thousand_commits_answers_within_a_second(
    engine, clock, facts, record_property
):
    """BUILD-52, B-7."""
    shas = [f"{number:040x}" for number in range(100_000)]
    rows = [
        {"sha": one, "parents": [before]}
        for one, before in zip(shas[1:], shas[:-1], strict=True)
    ]
    build_id = opened(engine, clock, commit=shas[-1])
    project_id = build_of(engine, build_id).project.id
    with transaction(engine) as tx:
        for begin in range(0, len(rows), 10_000):
            page = [row | {"project_id": project_id} for row in rows[begin : begin + 10_000]]
            tx.execute(insert(commits.commits).returning(commits.commits.c.sha), page)

    def timed():
        began_s = boot_seconds()
        parents = facts.history(build_id).parents
        return boot_seconds() - began_s, parents

    took_s, parents = min((timed() for _ in range(3)), key=lambda one: one[0])

    record_property("took_s", took_s)
    assert len(parents) == 5_000
    assert parents[shas[-1]] == (shas[-2],)
    assert took_s < 1, took_s


def test_parents_that_a_shallow_clone_did_not_know_are_learned_later(engine, clock, facts):
    """BUILD-24, BUILD-55."""
    opened(engine, clock, nonce="1", commit=B, commits=graph((B, None)))

    build_id = opened(engine, clock, nonce="2", commit=B, commits=graph((B, (A,)), (A, ())))
    opened(engine, clock, nonce="3", commit=B, commits=graph((B, None)))

    assert facts.history(build_id).parents == {B: (A,), A: ()}


@pytest.mark.parametrize(
    ("values", "usable"),
    [
        ({"trusted": True}, True),
        ({"trusted": False, "pull": 7}, True),
        ({"trusted": False, "pull": 8}, False),
        ({"name": "docs"}, False),
        ({"project": "blog"}, False),
    ],
)
def test_a_baseline_is_trusted_or_of_the_same_pull_request(
    engine, clock, facts, values, usable
):
    """BUILD-65, BUILD-2."""
    finished(engine, clock, nonce="1", commit=A, commits=graph((A, ())), **values)
    build_id = opened(
        engine, clock, nonce="2", commit=A, pull=7, commits=graph((A, ()), (B, (A,)))
    )

    history = facts.history(build_id)

    assert (A in history.built) is usable
    assert (history.latest is not None) is usable


def test_of_two_builds_on_a_commit_the_newer_number_comes_first(engine, clock, facts):
    """BUILD-66."""
    old = finished(engine, clock, nonce="1", commit=A)
    new = finished(engine, clock, nonce="2", commit=A)
    build_id = opened(engine, clock, nonce="3", commit=A)

    assert [one.build_id for one in facts.history(build_id).built[A]] == [new, old]


@pytest.mark.parametrize("pinned", ["1", "#1", A, "topic"])
def test_a_pinned_base_is_a_number_a_commit_or_a_branch(engine, clock, facts, pinned):
    """BUILD-51."""
    old = finished(engine, clock, nonce="1", commit=A, branch="topic")
    build_id = opened(engine, clock, nonce="2", pinned_base=pinned)

    found = facts.history(build_id).pinned

    assert found
    assert found.build_id == old


@pytest.mark.parametrize("pinned", ["99", "9" * 30, B, "nowhere"])
def test_a_pinned_base_that_is_not_there_is_none(engine, clock, facts, pinned):
    """BUILD-51."""
    assert facts.history(opened(engine, clock, pinned_base=pinned)).pinned is None


def test_a_build_is_found_by_the_name_that_people_give_it(engine, clock, facts):
    """R23, BUILD-1."""
    build_id = opened(engine, clock)

    assert facts.find("shop/1").id == facts.find("1", "shop").id == build_id


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        (("7", "shop"), NotFound, "project shop has no build 7"),
        (("blog/1", None), NotFound, "project blog is not known here"),
        (("1", None), NotFound, "of which project"),
        (("x", "shop"), BadInput, "x"),
    ],
)
def test_a_build_that_is_not_there_says_what_is_missing(engine, facts, asked, error, says):
    opened(engine, facts.clock)

    with pytest.raises(error, match=says):
        facts.find(*asked)


def test_a_wait_is_an_attempt_given_back_for_that_very_reason(engine, clock, facts):
    """BUILD-49."""
    build_id = capturing(engine, clock, ["a"])
    for attempt, (outcome, code) in enumerate(
        [
            ("released", "environment_changed"),
            ("released", None),
            ("lost", "environment_changed"),
            ("released", "environment_changed"),
        ],
        1,
    ):
        died(engine, clock, build_id, attempt, None, outcome=outcome, code=code)

    assert facts.waits(f"shard:{build_id}:0", "environment_changed") == 2


def test_recent_builds_come_newest_first_and_filtered(engine, clock, facts):
    first = opened(engine, clock, nonce="1")
    second = opened(engine, clock, nonce="2", branch="main")
    third = opened(engine, clock, nonce="3", project="blog")

    def ids(**wanted):
        return [build.id for build in facts.recent(**wanted)]

    assert ids() == [third, second, first]
    assert ids(project="shop", limit=1) == [second]
    assert ids(branch="topic") == [third, first]
    assert ids(phase="finished") == []


def test_a_view_tells_which_build_each_was_held_against_by_its_number(engine, clock, facts):
    """BUILD-50, BUILD-64."""
    old = finished(engine, clock, ["a", "b"], nonce="1")
    build_id = reducing(engine, clock, ["a", "b"], nonce="2")
    first, second = snapshots_of(engine, build_id)
    before = snapshots_of(engine, old)[0]
    ruled = (
        Ruled(first.id, "unchanged", before.image_id, old, "ancestor", "none"),
        Ruled(second.id, "new", None, old, "ancestor", "pending"),
    )
    written(engine, clock, RecordOutcomes(build_id, ruled))

    view = facts.view(build_id)

    assert view.baseline
    assert (view.baseline.build_id, view.baseline_reason) == (old, "ancestor")
    assert [one.baseline_build for one in view.snapshots] == [1, 1]
    assert view.baseline.environment == "env"
    assert [len(one.tries) for one in view.snapshots] == [1, 1]
    assert view.snapshots[0].mode_name
    with pytest.raises(NotFound):
        facts.view(404)


def test_a_view_of_an_open_or_failed_build_is_whole(engine, clock, facts):
    build_id = capturing(engine, clock, ["a"])
    assert facts.view(build_id).baseline is None

    written(engine, clock, EndBuild(build_id, "cancelled"))

    assert facts.view(build_id).build.phase == "cancelled"
    assert len(facts.view(build_id).shards) == 1


def test_a_project_is_changed_by_its_columns(engine, clock, facts):
    build_id = opened(engine, clock)
    project = build_of(engine, build_id).project

    with transaction(engine) as tx:
        projects.configure(tx, project.id, {"policy_new": "auto", "accept_branches": ["main"]})

    after = build_of(engine, build_id).project
    assert (after.policy_new, after.accept_branches) == ("auto", ("main",))
    with engine.connect() as db:
        assert projects.listing(db) == [after]


def test_a_finished_shard_is_told_as_it_is(engine, clock, facts):
    build_id = capturing(engine, clock, ["a"], ["b"])
    shard = shards_of(engine, build_id)[0]
    captured(engine, clock, build_id, shard.id)
    written(engine, clock, EndShard(build_id, shard.id))

    told = facts.shard(shard.id)

    assert told
    assert told.state == "done"
    with engine.connect() as db:
        assert images.by_pixels(db, [image("nobody").pixel_sha]) == {}

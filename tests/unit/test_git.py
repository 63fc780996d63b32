"""What git says of a working tree, asked of real repositories."""

import subprocess
from datetime import UTC, datetime

import pytest

from capture_consumer.client import git
from capture_consumer.errors import BadInput
from tests.unit.repositories import Repository


@pytest.fixture
def repository(tmp_path):
    """Return an empty repository."""
    return Repository(tmp_path / "origin")


def test_a_folder_without_git_has_no_facts(tmp_path):
    """BUILD-22, R26."""
    assert git.look(tmp_path) is None
    assert git.look(tmp_path / "not there") is None


def test_a_repository_without_a_commit_has_no_facts(repository):
    assert git.look(repository.folder) is None


def test_commit_branch_and_history_are_found_from_any_folder_below(repository):
    """BUILD-22, BUILD-24."""
    first, second = repository.commit(), repository.commit()
    below = repository.folder / "packages" / "shop"
    below.mkdir(parents=True)

    facts = git.look(below)

    assert facts is not None
    assert (facts.commit, facts.branch, facts.root) == (second, "main", repository.folder)
    assert [(one.sha, one.parents) for one in facts.commits] == [
        (second, (first,)),
        (first, ()),
    ]
    assert not facts.shallow


def test_each_commit_has_its_tree_and_its_instant(repository):
    """BUILD-24, COM-1."""
    sha = repository.commit()

    facts = git.look(repository.folder)

    assert facts is not None
    assert facts.commits[0].tree == repository.git("rev-parse", f"{sha}^{{tree}}")
    told = int(repository.git("show", "-s", "--format=%ct", sha))
    assert facts.commits[0].committed_at == datetime.fromtimestamp(told, UTC)


def test_a_merge_has_all_its_parents_an_octopus_too(repository):
    """BUILD-52."""
    base = repository.commit()
    tips = []
    for name in ("a", "b", "c"):
        repository.git("switch", "-q", "-c", name, base)
        tips.append(repository.commit())
    repository.git("switch", "-q", "main")
    merge = repository.merge("a", "b", "c")

    facts = git.look(repository.folder)

    assert facts is not None
    assert facts.commits[0].sha == merge
    assert set(facts.commits[0].parents or ()) == {base, *tips}


def test_at_the_edge_of_a_shallow_clone_parents_are_unknown_not_none(repository, tmp_path):
    """BUILD-24, B-5."""
    root = repository.commit()
    edge, tip = repository.commit(), repository.commit()

    facts = git.look(Repository(tmp_path / "clone", clone_of=repository, depth=2).folder)

    assert facts is not None
    assert facts.shallow
    assert [(one.sha, one.parents) for one in facts.commits] == [(tip, (edge,)), (edge, None)]
    assert root not in {one.sha for one in facts.commits}


def test_at_most_a_thousand_commits_are_told_and_the_nearest(repository):
    """BUILD-24."""
    stream = [
        f"commit refs/heads/main\ncommitter a <a@a> {1_700_000_000 + n} +0000\ndata 1\nx\n"
        for n in range(1_200)
    ]
    imported = repository.folder.parent / "stream"
    imported.write_text("".join(stream))
    with imported.open() as told:
        subprocess.run(
            ["git", "-C", str(repository.folder), "fast-import", "--quiet"],
            check=True,
            stdin=told,
        )

    facts = git.look(repository.folder)

    assert facts is not None
    assert len(facts.commits) == git.COMMITS_MOST
    assert facts.commits[0].sha == repository.git("rev-parse", "main")
    assert facts.commits[-1].parents


def test_a_detached_head_has_no_branch_but_the_only_one_that_stands_there(repository):
    """BUILD-22, B-5."""
    repository.commit()
    repository.git("switch", "-q", "--detach")

    facts = git.look(repository.folder)

    assert facts is not None
    assert (facts.branch, facts.points_at) == (None, "main")


def test_two_branches_on_a_detached_head_are_no_answer(repository):
    repository.commit()
    repository.git("branch", "other")
    repository.git("switch", "-q", "--detach")

    facts = git.look(repository.folder)

    assert facts is not None
    assert facts.points_at is None


def test_a_branch_may_have_any_name_that_git_allows(repository):
    repository.commit()
    repository.git("switch", "-q", "-c", "größe/ünïcode-日本")

    facts = git.look(repository.folder)

    assert facts is not None
    assert facts.branch == "größe/ünïcode-日本"


def test_a_commit_may_be_named_in_any_way_that_git_knows(repository):
    first = repository.commit()
    repository.commit()

    facts = git.look(repository.folder, commit="HEAD~1")

    assert facts is not None
    assert (facts.commit, facts.branch) == (first, None)


@pytest.mark.parametrize("name", ["no-such-branch", "--upload-pack=x", "-x", "HEAD:file1"])
def test_a_commit_that_git_does_not_know_is_refused(repository, name):
    repository.commit()

    with pytest.raises(BadInput, match="does not know"):
        git.look(repository.folder, commit=name)


def test_a_merge_of_a_shallow_clone_still_names_base_and_head(repository, tmp_path):
    """BUILD-23, B-5."""
    repository.commit()
    repository.git("switch", "-q", "-c", "feature")
    head = repository.commit()
    repository.git("switch", "-q", "main")
    base = repository.commit()
    merge = repository.merge("feature")
    clone = Repository(tmp_path / "clone", clone_of=repository, depth=1)
    facts = git.look(clone.folder)
    assert facts is not None
    assert facts.commits[0].parents is None

    known = git.merged_parents(facts)

    assert known.commits[0].sha == merge
    assert known.commits[0].parents == (base, head)
    assert {one.sha: one.parents for one in known.commits[1:]} == {base: None, head: None}


def test_the_default_branch_is_the_remote_s_head(repository, tmp_path):
    repository.commit()
    repository.git("branch", "-m", "trunk")
    clone = Repository(tmp_path / "clone", clone_of=repository)

    facts = git.look(clone.folder)

    assert facts is not None
    assert facts.default_branch == "trunk"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@example.org:team/Shop.git", "Shop"),
        ("https://example.org/team/shop/", "shop"),
        ("https://user:pw@example.org/team/shop.git", "shop"),
        ("../shop", "shop"),
    ],
)
def test_a_repository_s_name_is_the_end_of_its_remote(repository, url, name):
    repository.git("remote", "add", "origin", url)

    place = git.place(repository.folder)

    assert place is not None
    assert place.repository == name


@pytest.mark.parametrize("text", ["abc1234", "g" * 40, "", "a" * 41])
def test_a_short_hash_is_refused(text):
    """BUILD-7."""
    with pytest.raises(BadInput, match="full commit hash"):
        git.full_sha(text)


def test_a_full_hash_is_kept_in_lower_case():
    """BUILD-7."""
    assert git.full_sha("A" * 40) == "a" * 40
    assert git.full_sha("b" * 64) == "b" * 64

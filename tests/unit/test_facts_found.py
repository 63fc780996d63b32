"""A person's word, git's and the CI's put together."""

import pytest

from capture_consumer.client.facts import Given, gather, project_here, slug_of
from capture_consumer.errors import BadInput
from tests.unit.repositories import Repository
from tests.unit.test_ci import GITHUB


@pytest.fixture
def repository(tmp_path):
    """Return a repository with one commit."""
    made = Repository(tmp_path / "shop")
    made.commit()
    return made


def test_what_a_person_said_wins(repository):
    """BUILD-22."""
    given = Given(project="given", branch="release", base="main", pull=7)

    known = gather(repository.folder, {}, given, project="setting")

    assert (known.project, known.branch, known.pull) == ("given", "release", 7)


def test_without_a_word_git_tells_all(repository):
    """BUILD-22."""
    known = gather(repository.folder, {}, Given())

    assert (known.project, known.branch, known.pull) == ("shop", "main", None)
    assert known.head_sha == known.commit == repository.git("rev-parse", "HEAD")
    assert known.source == "git"


def test_without_git_there_is_no_commit_and_the_folder_names_the_project(tmp_path):
    """BUILD-22, R26."""
    folder = tmp_path / "My Shop"
    folder.mkdir()

    known = gather(folder, {}, Given())

    assert (known.commit, known.commits, known.project) == (None, (), "my-shop")


def test_a_detached_head_takes_its_branch_from_the_ci(repository):
    """BUILD-22."""
    sha = repository.commit()
    repository.git("switch", "-q", "--detach")
    said = {**GITHUB, "GITHUB_SHA": sha, "GITHUB_REF_NAME": "from-ci"}

    known = gather(repository.folder, said, Given())

    assert known.branch == "from-ci"
    assert known.source == "git and GitHub Actions"
    assert known.run == "github:77:2"


def test_a_ci_that_runs_for_another_repository_is_not_believed(repository):
    known = gather(repository.folder, GITHUB, Given())

    assert (known.run, known.source) == (None, "git")


def test_a_merge_made_for_a_pull_request_is_resolved_to_base_and_head(repository, tmp_path):
    """BUILD-23, B-5."""
    repository.git("switch", "-q", "-c", "feature")
    head = repository.commit()
    repository.git("switch", "-q", "main")
    base = repository.commit()
    merge = repository.merge("feature")
    clone = Repository(tmp_path / "clone", clone_of=repository, depth=1)
    clone.git("switch", "-q", "--detach")
    said = {
        **GITHUB,
        "GITHUB_SHA": merge,
        "GITHUB_REF": "refs/pull/12/merge",
        "GITHUB_HEAD_REF": "feature",
        "GITHUB_BASE_REF": "main",
    }

    known = gather(clone.folder, said, Given())

    assert (known.commit, known.head_sha) == (merge, head)
    assert (known.branch, known.pull, known.base_branch) == ("feature", 12, "main")
    assert known.commits[0].parents == (base, head)


def test_a_step_that_checked_out_the_head_itself_stands_on_no_merge(repository):
    """BUILD-23."""
    repository.git("switch", "-q", "-c", "feature")
    head = repository.commit()
    said = {**GITHUB, "GITHUB_SHA": head, "GITHUB_REF": "refs/pull/12/merge"}

    known = gather(repository.folder, said, Given())

    assert known.head_sha == known.commit == head


def test_a_commit_without_git_must_be_whole(tmp_path):
    """BUILD-7."""
    assert gather(tmp_path, {}, Given(commit="A" * 40)).commit == "a" * 40
    with pytest.raises(BadInput, match="full commit hash"):
        gather(tmp_path, {}, Given(commit="abc1234"))


def test_what_was_found_is_told_in_words(repository):
    """BUILD-22."""
    told = dict(gather(repository.folder, {}, Given(pull=3, base="main")).says())

    assert told["project"] == "shop"
    assert told["commit"].endswith("on main")
    assert told["pull"] == "3 into main"
    assert told["history"] == "1 commit"


@pytest.mark.parametrize(
    ("name", "slug"),
    [("My Shop!", "my-shop"), ("größe", "gr-e"), ("日本", "project"), ("x" * 99, "x" * 63)],
)
def test_any_name_becomes_a_slug(name, slug):
    """BUILD-1."""
    assert slug_of(name) == slug


def test_the_project_here_is_the_repository_s(repository):
    below = repository.folder / "below"
    below.mkdir()

    assert project_here(below, {}) == "shop"

"""What the environment of a CI says."""

import json

import pytest

from capture_consumer.client import ci

SHA = "a" * 40
GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_SHA": SHA,
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_REF_NAME": "main",
    "GITHUB_REF_TYPE": "branch",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_REPOSITORY": "team/shop",
}
GITLAB = {
    "CI": "true",
    "GITLAB_CI": "true",
    "CI_COMMIT_SHA": SHA,
    "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_BRANCH": "main",
    "CI_PIPELINE_ID": "5",
    "CI_JOB_ID": "9",
    "CI_PROJECT_NAME": "shop",
    "CI_DEFAULT_BRANCH": "main",
}


def test_outside_of_a_ci_there_is_nothing_to_say():
    assert ci.look({"PATH": "/bin"}) is None
    assert ci.look({"CI": "false"}) is None


def test_a_push_on_github_names_branch_and_run():
    """BUILD-22."""
    facts = ci.look(GITHUB)

    assert facts == ci.CiFacts(
        name="GitHub Actions",
        run="github:77:2",
        branch="main",
        repository="shop",
        commit=SHA,
    )


def test_a_pull_request_on_github_stands_on_a_merge_of_base_and_head(tmp_path):
    """BUILD-23, B-5."""
    event = tmp_path / "event.json"
    event.write_text(
        json.dumps(
            {
                "pull_request": {"head": {"sha": "b" * 40}},
                "repository": {"default_branch": "trunk"},
            }
        )
    )
    facts = ci.look(
        GITHUB
        | {
            "GITHUB_REF": "refs/pull/12/merge",
            "GITHUB_REF_NAME": "12/merge",
            "GITHUB_HEAD_REF": "feature/x",
            "GITHUB_BASE_REF": "trunk",
            "GITHUB_EVENT_PATH": str(event),
        }
    )

    assert facts is not None
    assert (facts.pull, facts.branch, facts.base_branch) == (12, "feature/x", "trunk")
    assert (facts.head_sha, facts.default_branch, facts.merged) == ("b" * 40, "trunk", True)


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"pull_request": "x"}', "[" * 100_000])
def test_an_event_file_that_says_nothing_is_no_fault(tmp_path, text):
    event = tmp_path / "event.json"
    event.write_text(text)

    facts = ci.look(GITHUB | {"GITHUB_EVENT_PATH": str(event)})

    assert facts is not None
    assert facts.head_sha is None


def test_a_tag_on_github_is_no_branch():
    facts = ci.look(GITHUB | {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1"})

    assert facts is not None
    assert facts.branch is None


def test_a_push_on_gitlab_names_branch_and_run():
    """BUILD-22."""
    facts = ci.look(GITLAB)

    assert facts == ci.CiFacts(
        name="GitLab CI",
        run="gitlab:5:9",
        branch="main",
        default_branch="main",
        repository="shop",
        commit=SHA,
    )


def test_a_merge_request_on_gitlab_has_a_number_and_a_target():
    """BUILD-22."""
    asked = {
        "CI_MERGE_REQUEST_IID": "4",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "feature",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }
    gone = {name: value for name, value in GITLAB.items() if name != "CI_COMMIT_BRANCH"}

    facts = ci.look(gone | asked)

    assert facts is not None
    assert (facts.pull, facts.branch, facts.base_branch) == (4, "feature", "main")
    assert not facts.merged


def test_a_merged_results_pipeline_on_gitlab_stands_on_a_merge():
    """BUILD-23."""
    facts = ci.look(
        GITLAB | {"CI_MERGE_REQUEST_IID": "4", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "b" * 40}
    )

    assert facts is not None
    assert facts.merged
    assert facts.head_sha == "b" * 40


def test_a_tag_on_gitlab_is_no_branch():
    tagged = {**GITLAB, "CI_COMMIT_TAG": "v1", "CI_COMMIT_BRANCH": ""}

    facts = ci.look(tagged)

    assert facts is not None
    assert facts.branch is None


@pytest.mark.parametrize(
    "told",
    [
        {"CHANGE_BRANCH": "feature", "CHANGE_ID": "3", "CHANGE_TARGET": "main"},
        {
            "BUILDKITE_BRANCH": "feature",
            "BUILDKITE_PULL_REQUEST": "3",
            "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
        },
        {
            "BITBUCKET_BRANCH": "feature",
            "BITBUCKET_PR_ID": "3",
            "BITBUCKET_PR_DESTINATION_BRANCH": "main",
        },
    ],
)
def test_other_cis_are_read_by_the_variables_they_set(told):
    """BUILD-22."""
    facts = ci.look({"CI": "true", **told})

    assert facts is not None
    assert (facts.branch, facts.pull, facts.base_branch) == ("feature", 3, "main")


def test_no_pull_request_on_buildkite_is_the_word_false():
    facts = ci.look(
        {"CI": "true", "BUILDKITE_BRANCH": "main", "BUILDKITE_PULL_REQUEST": "false"}
    )

    assert facts is not None
    assert facts.pull is None

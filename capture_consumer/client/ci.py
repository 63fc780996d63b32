"""What the CI's environment says: branch, pull request, base, and which run this is.

One small function a CI, from its variables to the same five answers. Documented
variables only; what a CI does not say stays None and git or a person answers it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CiFacts", "look"]

EVENT_BYTES = 5 * 2**20


@dataclass(frozen=True, slots=True)
class CiFacts:
    """What a CI says. `merged`: the checkout is an ephemeral merge of head and base (BUILD-23).

    `run` names this run and its try, so that a step that is run again finds its build.
    """

    name: str
    run: str | None = None
    branch: str | None = None
    pull: int | None = None
    head_sha: str | None = None
    base_branch: str | None = None
    default_branch: str | None = None
    repository: str | None = None
    commit: str | None = None
    merged: bool = False


def look(environ: Mapping[str, str]) -> CiFacts | None:
    """Return what the CI says, or None outside of one."""
    if environ.get("GITHUB_ACTIONS") == "true":
        return github(environ)
    if environ.get("GITLAB_CI"):
        return gitlab(environ)
    if environ.get("CI", "").lower() in {"true", "1", "woodpecker", "drone"}:
        return generic(environ)
    return None


def github(environ: Mapping[str, str]) -> CiFacts:
    """Return what GitHub Actions says; the event's file knows head and default branch."""
    event = _event(environ.get("GITHUB_EVENT_PATH"))
    ref = environ.get("GITHUB_REF", "")
    is_branch = environ.get("GITHUB_REF_TYPE", "branch") == "branch"
    pull = _number(ref.split("/")[2]) if ref.startswith("refs/pull/") else None
    return CiFacts(
        name="GitHub Actions",
        run=_run("github", environ, "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"),
        branch=environ.get("GITHUB_HEAD_REF")
        or (environ.get("GITHUB_REF_NAME") if is_branch and pull is None else None)
        or None,
        pull=pull,
        head_sha=_text(event, "pull_request", "head", "sha"),
        base_branch=environ.get("GITHUB_BASE_REF") or None,
        default_branch=_text(event, "repository", "default_branch"),
        repository=environ.get("GITHUB_REPOSITORY", "").rpartition("/")[2] or None,
        commit=environ.get("GITHUB_SHA") or None,
        merged=pull is not None and ref.endswith("/merge"),
    )


def gitlab(environ: Mapping[str, str]) -> CiFacts:
    """Return what GitLab CI says; a merged-results pipeline stands on an ephemeral merge."""
    ref = environ.get("CI_COMMIT_REF_NAME") if "CI_COMMIT_TAG" not in environ else None
    source = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or None
    return CiFacts(
        name="GitLab CI",
        run=_run("gitlab", environ, "CI_PIPELINE_ID", "CI_JOB_ID"),
        branch=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")
        or environ.get("CI_COMMIT_BRANCH")
        or ref,
        pull=_number(environ.get("CI_MERGE_REQUEST_IID")),
        head_sha=source,
        base_branch=environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or None,
        default_branch=environ.get("CI_DEFAULT_BRANCH") or None,
        repository=environ.get("CI_PROJECT_NAME") or None,
        commit=environ.get("CI_COMMIT_SHA") or None,
        merged=source is not None,
    )


def generic(environ: Mapping[str, str]) -> CiFacts:
    """Return what the variables that many CIs share say (Jenkins, Buildkite, CircleCI, …)."""

    def first(*names: str) -> str | None:
        return next((environ[name] for name in names if environ.get(name)), None)

    run = first(
        "BUILD_TAG", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID", "BITBUCKET_BUILD_NUMBER"
    )
    pull = first(
        "CHANGE_ID", "BUILDKITE_PULL_REQUEST", "BITBUCKET_PR_ID", "CI_COMMIT_PULL_REQUEST"
    )
    branch = first(
        "CHANGE_BRANCH",
        "BUILDKITE_BRANCH",
        "CIRCLE_BRANCH",
        "BITBUCKET_BRANCH",
        "CI_COMMIT_SOURCE_BRANCH",
        "CI_COMMIT_BRANCH",
        "BRANCH_NAME",
        "GIT_BRANCH",
    )
    return CiFacts(
        name="CI",
        run=f"ci:{run}" if run else None,
        branch=branch.removeprefix("origin/") if branch else None,
        pull=_number(pull),
        base_branch=first(
            "CHANGE_TARGET",
            "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
            "BITBUCKET_PR_DESTINATION_BRANCH",
            "CI_COMMIT_TARGET_BRANCH",
        ),
        commit=first("GIT_COMMIT", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "BITBUCKET_COMMIT"),
    )


def _event(path: str | None) -> Mapping[str, Any]:
    """Return the event that began the run; nothing where it cannot be read."""
    try:
        text = Path(path).read_bytes()[:EVENT_BYTES] if path else b"{}"
        event = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _text(event: Mapping[str, Any], *way: str) -> str | None:
    """Return the text at the end of a way into an event, or None."""
    at: Any = event
    for key in way:
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, str) and at else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


def _run(name: str, environ: Mapping[str, str], *variables: str) -> str | None:
    parts = [environ[variable] for variable in variables if environ.get(variable)]
    return ":".join([name, *parts]) if parts else None

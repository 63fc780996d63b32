"""The hook `supersede_older`: a newer build of a lane ends the older open ones (BUILD-90)."""

from collections.abc import Mapping
from typing import Any

from capture_consumer.builds.effects import NOTHING, Effects, SupersedeOlder
from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.phases import OPEN

__all__ = ["supersede_older"]


def supersede_older(_payload: Mapping[str, Any], build: BuildFact) -> Effects:
    """Ask for the older open builds of the build's lane to be superseded (BUILD-91).

    Not where the project has it off, nor on a branch of which every build counts. A
    pull request is never such a branch, whatever its head is called. A build that came
    to nothing meanwhile supersedes nobody. Which builds are older, and which of them is
    merely overtaken by a late one, is looked at under the lane's lock.
    """
    project = build.project
    kept = {project.default_branch, *project.accept_branches, *project.protected_branches}
    is_kept = build.pull is None and build.ref in kept
    goes_on = build.phase in OPEN or build.phase == "finished"
    if not project.supersede or is_kept or not goes_on:
        return NOTHING
    return (SupersedeOlder(build.id),)

"""What a build is compared with: its baseline, looked up from facts and the store."""

from capture_consumer.builds import baselines, manifest
from capture_consumer.builds.baselines import Baseline, Held
from capture_consumer.builds.facts import BuildFact
from capture_consumer.handlers.capture.tools import Tools

__all__ = ["look_up"]


def look_up(tools: Tools, build: BuildFact) -> tuple[Baseline, dict[int, Held]]:
    """Return the baseline and what it has by key id (builds.md, section 6).

    The plan's preview and reduce's choice are this one function (BUILD-30).
    """
    baseline = baselines.choose(build, tools.facts.history(build.id))
    needed = (*baseline.builds, *((baseline.common,) if baseline.common else ()))
    maps = {
        built.build_id: manifest.decode(tools.store.get(built.manifest_sha)) for built in needed
    }
    return baseline, baselines.held(baseline, maps)

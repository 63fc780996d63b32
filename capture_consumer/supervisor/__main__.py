"""What `start` becomes by exec: the supervisor, and nothing that was imported before it."""

import os
import sys
from pathlib import Path

from capture_consumer.supervisor.plan import PLAN, Plan
from capture_consumer.supervisor.says import Says
from capture_consumer.supervisor.signals import Signals
from capture_consumer.supervisor.state import Held, State
from capture_consumer.supervisor.supervisor import EXIT_HELD, Supervisor

__all__ = ["main"]

EXIT_CONFIGURATION = 78


def main() -> int:
    """Supervise as the plan in the environment says; return the exit code."""
    signals = Signals()
    signals.install()  # Before all else: as PID 1 a TERM without a handler is ignored.
    says = Says()
    if not __debug__:
        says.error("optimized", error="python -O takes asserts away (adr/0001)")
        return EXIT_CONFIGURATION
    try:
        plan = Plan.from_environment(os.environ)
    except ValueError as error:
        says.error("no_plan", error=str(error))
        return EXIT_CONFIGURATION
    says.speak(plan.log_format)
    os.environ.pop(PLAN, None)
    state = State(Path(plan.state_dir))
    try:
        state.lock()
    except Held as error:
        says.error("another_supervisor", error=str(error))
        return EXIT_HELD
    return Supervisor(plan, state, says=says, signals=signals).run()


if __name__ == "__main__":
    sys.exit(main())

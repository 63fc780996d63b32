"""What a person does to a build by hand, written down in the same transaction (COM-16)."""

from datetime import datetime

from capture_consumer.builds.effects import OpenBuild, OpenedBuild
from capture_consumer.database.transaction import Tx
from capture_consumer.records import moving
from capture_consumer.tables import audit, build_views, builds

__all__ = ["cancel", "note_retry"]


def cancel(tx: Tx, build_id: int, *, who: str, now: datetime) -> bool:
    """Cancel an open build (T13); False, nothing written, when it has ended."""
    build = builds.lock(tx, build_id)
    if build is None:
        return False
    text = f"Cancelled by {who}"
    if not moving.end_build(
        tx, build_id=build_id, to="cancelled", code="cancelled", text=text, now=now
    ):
        return False
    audit.add(
        tx,
        who=who,
        action="cancel",
        subject=f"build:{build_id}",
        from_state=build.phase,
        to_state="cancelled",
        now=now,
    )
    return True


def note_retry(
    tx: Tx, request: OpenBuild, opened: OpenedBuild, *, who: str, now: datetime
) -> None:
    """Write down that a build was captured again, as which one."""
    assert request.retry_of is not None
    old, new = (build_views.get(tx, one) for one in (request.retry_of, opened.build_id))
    assert old is not None
    assert new is not None
    audit.add(
        tx,
        who=who,
        action="retry",
        subject=f"build:{old.id}",
        from_state=old.verdict or old.phase,
        to_state=new.phase,
        details={"build": new.id, "number": new.number},
        now=now,
    )

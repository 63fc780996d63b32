"""What a child said last, and what of it is in its hands (pure)."""

from dataclasses import dataclass

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.slot import Words as BoxWords

__all__ = ["LastWords"]


@dataclass(slots=True)
class LastWords:
    """One child's reports, folded together. Instants are monotonic seconds."""

    started_at: float
    owner: str = ""
    ready_at: float | None = None
    claim: say.Claim | None = None
    story: say.Story | None = None
    seq: int = 0
    beat_at: float = 0.0
    progress: int = 0
    progress_at: float = 0.0
    rss: int = 0
    browser_pids: tuple[int, ...] = ()
    claims: int = 0
    jobs_done: int = 0
    said_paused: bool = False
    quiet_since: float = 0.0
    bye: str | None = None
    alone_for: str | None = None

    def __post_init__(self) -> None:
        self.beat_at = self.progress_at = self.quiet_since = self.started_at

    @property
    def holding(self) -> bool:
        """Return whether a job is in its hands."""
        return self.claim is not None

    def hear(self, report: say.Report, now: float) -> None:
        """Take one report in."""
        self.beat_at = now
        match report:
            case say.Hello() | say.Ready() | say.Bye():
                self.hear_of_life(report, now)
            case say.Claim() | say.Story() | say.Settled() | say.Released():
                self.hear_of_work(report, now)
            case say.Beat():
                self.hear_beat(report, now)
            case say.Alone():
                self.alone_for = report.job
            case say.Paused():
                self.said_paused = True
            case say.Ack():
                pass

    def hear_of_life(self, report: say.Hello | say.Ready | say.Bye, now: float) -> None:
        """Take in how far its life has come."""
        if isinstance(report, say.Hello):
            self.owner = report.owner
        elif isinstance(report, say.Ready):
            self.ready_at = self.quiet_since = now
        else:
            self.bye = report.reason

    def hear_of_work(
        self, report: say.Claim | say.Story | say.Settled | say.Released, now: float
    ) -> None:
        """Take in what is in hand now."""
        self.seq = max(self.seq, report.seq)
        self.progress_at = now
        if isinstance(report, say.Claim):
            self.claim, self.story = report, None
            self.claims += 1
            self.said_paused, self.alone_for = False, None
        elif isinstance(report, say.Story):
            self.story = report if report.story else None
        else:
            self.let_go(report, now)

    def hear_beat(self, beat: say.Beat, now: float) -> None:
        """Take a beat in; only a grown progress is progress."""
        if beat.progress > self.progress:
            self.progress, self.progress_at = beat.progress, now
        self.rss, self.browser_pids = beat.rss, beat.browser_pids

    def let_go(self, report: say.Settled | say.Released, now: float) -> None:
        """Note that an attempt has ended, if it is the one in hand."""
        held = self.claim
        if held and (held.job, held.attempt) == (report.job, report.attempt):
            self.claim = self.story = None
            self.quiet_since = now
            self.jobs_done += isinstance(report, say.Settled)

    def read_box(self, box: BoxWords | None) -> str | None:
        """Let the black box win where it is newer; return a difference worth a line."""
        if box is None or box.seq < self.seq:
            return None
        ours = (
            self.claim.job if self.claim else None,
            self.story.story if self.story else None,
        )
        theirs = (box.job, box.story)
        if box.job is None:
            self.claim = self.story = None
        else:
            self.claim = say.Claim(
                box.job, box.attempt or 0, box.kind, box.step, box.build, box.shard, seq=box.seq
            )
            known = self.story if box.cut else None
            self.story = say.Story(box.snapshot, box.story) if box.story else known
        if ours == theirs or (box.cut and ours[0] == theirs[0]):
            return None
        return f"pipe {ours}, box {theirs}" if box.seq == self.seq else "the box is newer"

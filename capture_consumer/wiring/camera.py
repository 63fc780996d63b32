"""A consumer's one camera: made when a job first needs it, killed from any thread."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from capture_consumer.capture.browser import BrowserChoice
from capture_consumer.capture.shutter import Camera

__all__ = ["CameraKeeper"]

LOOK_S = 2.0


@dataclass
class CameraKeeper:
    """Makes the camera when asked, and keeps it from job to job.

    `get` and `close` belong to the thread that works; `kill` and `watch` to any other.
    """

    browser: BrowserChoice
    scratch: Path
    camera: Camera | None = field(default=None, init=False)

    def get(self) -> Camera:
        """Return the camera."""
        if self.camera is None:
            self.scratch.mkdir(parents=True, exist_ok=True)
            self.camera = Camera(self.browser, scratch=self.scratch)
        return self.camera

    def kill(self) -> None:
        """Kill the browser by pid; a story under way ends with `BrowserDied` (R32)."""
        if self.camera is not None:
            self.camera.kill()

    def close(self) -> None:
        """End the browser and remove what it left on disk."""
        if self.camera is not None:
            self.camera.close()
            self.camera = None

    def watch(self, tell: Callable[[list[int]], None], stopped: threading.Event) -> None:
        """Tell which processes are the browser's, every 2 s, on a thread (SUP-23)."""

        def look() -> None:
            told: list[int] = []
            while not stopped.wait(LOOK_S):
                camera = self.camera
                pids = camera.pids() if camera is not None else []
                if pids != told:
                    told = pids
                    tell(pids)

        threading.Thread(target=look, name="browser-pids", daemon=True).start()

"""What the supervisor has told the clerk so far, from the first instant of its boot."""

import queue
import threading
from dataclasses import dataclass, field

from capture_consumer.ipc import messages

__all__ = ["Heard"]


@dataclass
class Heard:
    """Orders that wait to be done, and the two that hold from the moment they are heard."""

    orders: "queue.SimpleQueue[messages.Order]" = field(default_factory=queue.SimpleQueue)
    leaving: threading.Event = field(default_factory=threading.Event)
    draining: threading.Event = field(default_factory=threading.Event)

    def hear(self, order: messages.Order) -> None:
        """Take an order; called on the control thread."""
        if isinstance(order, messages.Drain | messages.Hurry | messages.ParentGone):
            self.draining.set()
        if isinstance(order, messages.Recycle | messages.Hurry | messages.ParentGone):
            self.leaving.set()
        self.orders.put(order)

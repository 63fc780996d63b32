"""Messages to frames and back; a kind is a number for ever."""

from dataclasses import fields
from typing import Any, get_args

from capture_consumer.ipc.frames import Frame, FrameBroken, FrameTooLong, encode
from capture_consumer.ipc.messages import Order, Report

__all__ = ["order_of", "pack", "report_of"]

TEXT_CHARS_MIN = 64

# A kind is a place in this list, for ever: new words go to the end.
REPORTS: tuple[type, ...] = get_args(Report)
ORDERS: tuple[type, ...] = get_args(Order)
KINDS = {
    **{word: number for number, word in enumerate(REPORTS, 1)},
    **{word: number for number, word in enumerate(ORDERS, 101)},
}
WORDS = {number: word for word, number in KINDS.items()}


def pack(message: Report | Order) -> bytes:
    """Return the message as one frame; a text that is too long is shortened, names never.

    Raises:
        FrameTooLong: it does not fit even so.
    """
    body = {one.name: getattr(message, one.name) for one in fields(message)}
    while True:
        try:
            return encode(KINDS[type(message)], body)
        except FrameTooLong:
            facts = body.get("facts", {})
            text = facts.get("text") or ""
            if len(text) <= TEXT_CHARS_MIN:
                raise
            body["facts"] = {**facts, "text": text[: len(text) * 3 // 4 - 1] + "…"}


def unpack(frame: Frame, words: tuple[type, ...]) -> Any:
    """Return the message of a frame, or None when this side does not know the word."""
    word = WORDS.get(frame.kind)
    if word is None or word not in words:
        return None
    known = {
        one.name: tuple(value) if isinstance(value, list) else value
        for one in fields(word)
        if (value := frame.body.get(one.name, one)) is not one
    }
    try:
        return word(**known)
    except TypeError as error:
        raise FrameBroken(f"{word.__name__} lacks a field") from error


def report_of(frame: Frame) -> Report | None:
    """Return what a child reports; None for a word from a newer release."""
    report: Report | None = unpack(frame, REPORTS)
    return report


def order_of(frame: Frame) -> Order | None:
    """Return what a child is told; None for a word from a newer release."""
    order: Order | None = unpack(frame, ORDERS)
    return order

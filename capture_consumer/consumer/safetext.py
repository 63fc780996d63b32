r"""Texts from outside, made so that writing down a failure cannot itself fail (JOB-165).

PostgreSQL refuses NUL, UTF-8 refuses lone surrogates, and an error may quote a secret.
"""

import re

__all__ = ["CUT_AT", "safe_text"]

CUT_AT = 2_000
MARK = " … (cut)"
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
TOKENS = re.compile(
    r"(?i)(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abposr]-|sk-|eyJ)[A-Za-z0-9_.\-]{10,}"
    r"|(?<=bearer )[A-Za-z0-9._~+/\-]{8,}=*"
)


def safe_text(text: str | bytes, *, at_most: int = CUT_AT) -> str:
    r"""Return the text with what cannot be stored written as `\x..`, secrets as `***`, cut.

    Broken UTF-8 in bytes is escaped the same way. What is cut off is told by a mark.
    """
    whole = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
    written = UNWRITABLE.sub(lambda found: ascii(found.group())[1:-1], whole)
    masked = TOKENS.sub("***", written)
    return masked if len(masked) <= at_most else masked[: at_most - len(MARK)] + MARK

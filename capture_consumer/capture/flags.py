"""How the browser is started: each flag with its reason (CAP-4).

They are part of the environment: another flag draws other pixels.
"""

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["FLAGS", "environment_of_browser", "may_use_sandbox", "user_agent"]

# Playwright sets these pointers itself; its setting is repeated because the last one wins.
_POINTERS = (
    "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
)

FLAGS: tuple[str, ...] = (
    "--force-color-profile=srgb",  # a screen's own profile would tint every picture
    "--disable-lcd-text",  # grey text: colour fringes depend on the screen
    "--font-render-hinting=none",  # glyphs are placed alike on every host
    "--disable-partial-raster",  # redrawn corners of a box differ from fresh ones by 2 levels
    "--hide-scrollbars",  # they are drawn by the system's theme, and fade
    "--disable-gpu",  # pixels from the CPU are the same everywhere
    "--enable-unsafe-swiftshader",  # WebGL without a GPU
    f"--blink-settings={_POINTERS},imageAnimationPolicy=2",  # a GIF stays at frame 0
    "--disable-background-networking",  # nothing is asked but by the page
    "--disable-component-update",  # nor replaced while we work
    "--disable-quic",  # goes past a proxy
    "--dns-prefetch-disable",  # a name looked up is a name told
    # Every name fails to resolve; what is allowed is resolved by the guard.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # Data channels stay behind the proxy, which speaks no UDP: they do not connect.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-dev-shm-usage",  # containers give 64 MB of it: a large page would crash
    "--mute-audio",  # nobody listens
    "--no-first-run",  # nobody answers
)

# What the browser needs of our environment; the rest may be secret (CAP-10).
_KEPT = ("PATH", "LANG", "LC_ALL", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH")
# The sandbox's socket has a path of at most 108 bytes, some of which are Chromium's.
_LONGEST_TEMPORARY = 60


def environment_of_browser(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the variables a browser is started with: few, none of them secret.

    Args:
        environ: our own variables.
        home: a folder of the browser's own, removed with it.
    """
    kept = {name: environ[name] for name in _KEPT if name in environ}
    if len(str(home)) <= _LONGEST_TEMPORARY:
        kept["TMPDIR"] = str(home)
    return kept | {"HOME": str(home), "TZ": "UTC"}


def may_use_sandbox() -> bool:
    """Tell whether Chromium's sandbox can be tried: it refuses to start for root."""
    return not (hasattr(os, "geteuid") and os.geteuid() == 0)


def user_agent(version: str) -> str:
    """Return the user agent (CAP-15): its last word spares 100 ms to 5 s a story.

    Storybook waits for animations, unless it believes that its own test runner looks on.
    """
    major = version.split(".", 1)[0]
    return (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
        f" HeadlessChrome/{major}.0.0.0 Safari/537.36 (StorybookTestRunner/capture)"
    )

"""The map of a finished build, key id to accepted image id, as bytes (BUILD-68).

Equal maps give equal bytes, so they are one blob.
"""

import json
import zlib
from collections.abc import Mapping
from hashlib import sha256

__all__ = ["decode", "encode", "sha_of"]


def encode(accepted: Mapping[int, int]) -> bytes:
    """Return the map as compressed JSON with sorted keys."""
    pairs = {str(key): accepted[key] for key in sorted(accepted)}
    return zlib.compress(json.dumps(pairs, separators=(",", ":")).encode(), level=6)


def decode(data: bytes) -> dict[int, int]:
    """Return the map that these bytes are.

    Raises:
        ValueError: they are no manifest. The store has checked them against their name,
            so it is a bug, not damage.
    """
    try:
        pairs = json.loads(zlib.decompress(data))
        return {int(key): int(image) for key, image in pairs.items()}
    except (zlib.error, AttributeError, TypeError) as error:
        raise ValueError("These bytes are not a manifest.") from error


def sha_of(data: bytes) -> str:
    """Return the name under which a store keeps these bytes."""
    return sha256(data).hexdigest()

"""The supervisor where the kernel gives no pidfd (SUP-12)."""

import os
import sys

del os.pidfd_open

from capture_consumer.supervisor.__main__ import main  # noqa: E402

sys.exit(main())

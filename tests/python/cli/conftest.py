"""Windows has no named pipes and no `sh`."""

import os

collect_ignore = [] if os.name == "posix" else ["test_signals.py"]

"""Windows has no fork, no named pipes and no signal to a thread."""

import os

collect_ignore = [] if hasattr(os, "fork") else ["test_fork.py", "test_interrupt.py", "test_spark_worker.py"]

"""A cluster whose tasks list, delete and rewrite objects of a store: the same answers as in one process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import both_ways
import cluster
import pytest
import servers

if TYPE_CHECKING:
    from pathlib import Path

    from servers import S3


@pytest.mark.spark
# the first test fetches and builds the server, once a machine
@pytest.mark.timeout(1200)
def test_tasks_on_a_store_answer_as_one_process(s3: S3, tmp_path: Path) -> None:
    assert s3.log is not None
    given = {
        "DATA": str(s3.log.parent / "data"),
        "TOLD": str(tmp_path / "told"),
    }
    root = f"s3://{servers.BUCKET}/{tmp_path.name}"
    with servers.patient(s3) as store, cluster.cluster(tmp_path / "cluster") as url:
        given["HADOOP"] = json.dumps(store.hadoop)
        cluster.run(url, both_ways.PROGRAM, root, *both_ways.STEPS, **given)
    told = json.loads((tmp_path / "told").read_text())
    said = both_ways.compared(told)
    # the folders of a store are listed by tasks, too: those of the table, and that of its log
    listed = [each for each in said["vacuum"] if "folders were listed in tasks" in each]
    assert listed
    assert int(listed[0].split()[1]) >= 5
    assert told["steps"]["vacuum"]["tasks"]["found"]["deleted"] >= 12

"""An Iceberg catalog that holds tables only is read and written as without any view."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_catalog(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.functional.materialized_view.catalog_without_views"]
    done = subprocess.run([*program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]

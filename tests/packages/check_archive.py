"""Unpacks the archives of a release, checks every checksum, and starts the binary of this platform.
Usage: check_archive.py DIRECTORY SUMS"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main(directory, sums):
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", Path(sums).resolve()], cwd=directory, check=True)
    with tempfile.TemporaryDirectory() as temporary:
        for archive in [*Path(directory).glob("*.zip"), *Path(directory).glob("*.tar.gz")]:
            shutil.unpack_archive(archive, temporary)
            root = Path(temporary, archive.name.removesuffix(".zip").removesuffix(".tar.gz"))
            subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=root, check=True)
            assert (root / "docs").is_dir() and (root / "LICENSE-MIT").is_file(), archive.name

        tests = subprocess.run([root / "tas-mcp", "--sandbox", "tests"], capture_output=True, text=True, check=True)
        assert "Pause and resume" in tests.stdout
    print("ok      archives: every checksum, and the binary runs")


main(*sys.argv[1:])

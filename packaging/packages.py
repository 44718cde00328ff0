"""Functions that the scripts of this folder share. Needs Python 3.11.

The same files give the same package, byte for byte: files are sorted, and have no owner and a fixed time."""

import argparse
import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The earliest time that a zip file can state, for zip files and for the others.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
TAR_TIME = 315532800

EXECUTABLE, READABLE = 0o755, 0o644

LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]

# The platforms that the registries of npm and Python serve: what npm compares with the machine, and the tag of a wheel.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": ({"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]}, "manylinux_{glibc}_x86_64"),
    "aarch64-unknown-linux-gnu": ({"os": ["linux"], "cpu": ["arm64"], "libc": ["glibc"]}, "manylinux_{glibc}_aarch64"),
    "aarch64-apple-darwin": ({"os": ["darwin"], "cpu": ["arm64"]}, "macosx_11_0_arm64"),
    "x86_64-pc-windows-msvc": ({"os": ["win32"], "cpu": ["x64"]}, "win_amd64"),
}

# The name in the registry of MCP, by which it recognizes the packages: the readme of each one says it.
SERVER_NAME = json.loads((ROOT / "packaging/server.json").read_text())["name"]


def run(description, write_packages, targets=None, *, is_for_platform=True):
    """Lets `write_packages` write packages of a binary, for a platform and into a directory, which are the arguments of a script."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, help="the binary for the platform")
    if is_for_platform:
        parser.add_argument("target", choices=targets, help="the platform, such as x86_64-unknown-linux-gnu")
    parser.add_argument("output", type=Path, help="the directory of the packages")
    options = parser.parse_args()
    try:
        write_packages(**vars(options))
    except OSError as error:
        parser.error(str(error))


def crate():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]


def version():
    return crate()["version"]


def readme(start):
    """Returns the page of a package in its registry. `start` starts the program without a copy of it."""
    return f"""# tas-mcp

{crate()["description"]}.

```text
{start} demo                      # a session of an assistant with a sandbox, without an account
{start} login                     # address and key of the service
claude mcp add tas -- {start}
```

mcp-name: {SERVER_NAME}
"""


def is_windows(target):
    return "-windows-" in target


def program_name(target):
    return "tas-mcp.exe" if is_windows(target) else "tas-mcp"


def package_name(target):
    return f"tas-mcp-{version()}-{target}"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def write_package(path, files):
    """Writes a tar file that is compressed with gzip, or a zip file, by the name of the package. Prints its SHA-256.
    `files` has the content of each file, and its mode, by its path in the package."""
    packed = tar_gz(files) if path.name.endswith((".tar.gz", ".tgz")) else zipped(files)
    write(path, packed)
    # A line of the form that `sha256sum --check` reads.
    print(f"{sha256(packed)}  {path.name}")


def tar_gz(files):
    output = io.BytesIO()
    # The name of the file is no part of the header, and the time is fixed.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=output, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), mode, TAR_TIME
            archive.addfile(entry, io.BytesIO(content))
    return output.getvalue()


def zipped(files):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Unix, with the mode of a regular file, also if the script runs on Windows.
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
            archive.writestr(entry, content)
    return output.getvalue()


def write(path, content):
    """Writes a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        # A temporary file is readable by its owner only.
        os.chmod(temporary, READABLE)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise

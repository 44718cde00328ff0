//! Locks of files.

use std::{
    cell::Cell,
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use cap_std::fs::Metadata;
use tas_mcp::tools::files::{LockError, lock_file};

fn open_file(path: &Path) -> io::Result<File> {
    File::options().read(true).append(true).create(true).open(path)
}

fn metadata(path: &Path) -> io::Result<Metadata> {
    path.symlink_metadata().map(Metadata::from_just_metadata)
}

/// Another process removes the file between the opening and the lock, and may create another file with the name.
#[tokio::test]
async fn the_locked_file_is_the_one_that_has_the_name() {
    for is_created_again in [false, true] {
        let root = tempfile::tempdir().expect("a directory");
        let (path, opens) = (root.path().join("one"), Cell::new(0));
        let open = || {
            let file = open_file(&path)?;
            opens.set(opens.get() + 1);
            if opens.get() == 1 {
                fs::remove_file(&path)?;
                if is_created_again {
                    fs::write(&path, "")?;
                }
            }
            Ok(file)
        };

        let mut lock = lock_file(open, || metadata(&path)).expect("a file");
        lock.write_all(b"mine").expect("room");

        assert_eq!((lock.is_locked(), opens.get()), (true, 2));
        assert_eq!(fs::read(&path).expect("a file"), b"mine");
        assert!(matches!(lock_file(|| open_file(&path), || metadata(&path)), Err(LockError::Busy)));
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_again_and_again_counts_as_locked() {
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("one");
    let open = || open_file(&path).and_then(|file| fs::remove_file(&path).map(|()| file));
    assert!(matches!(lock_file(open, || metadata(&path)), Err(LockError::Busy)));
}

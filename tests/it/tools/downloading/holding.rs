//! Files that one call has for itself.

use std::{
    cell::Cell,
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use cap_std::fs::Metadata;
use tas_mcp::tools::files::{LockError, lock_file};

fn opened(path: &Path) -> io::Result<File> {
    File::options().read(true).append(true).create(true).open(path)
}

fn named(path: &Path) -> io::Result<Metadata> {
    path.symlink_metadata().map(Metadata::from_just_metadata)
}

/// Whoever had the file has removed it between its opening and its lock, and somebody may have made another one.
#[tokio::test]
async fn the_locked_file_is_the_one_that_has_the_name() {
    for is_made_again in [false, true] {
        let root = tempfile::tempdir().expect("a directory");
        let (path, opens) = (root.path().join("one"), Cell::new(0));
        let open = || {
            let file = opened(&path)?;
            opens.set(opens.get() + 1);
            if opens.get() == 1 {
                fs::remove_file(&path)?;
                if is_made_again {
                    fs::write(&path, "")?;
                }
            }
            Ok(file)
        };

        let mut held = lock_file(open, || named(&path)).expect("a file");
        held.file.write_all(b"mine").expect("room");

        assert_eq!((held.is_locked, opens.get()), (true, 2));
        assert_eq!(fs::read(&path).expect("a file"), b"mine");
        assert!(matches!(lock_file(|| opened(&path), || named(&path)), Err(LockError::Busy)));
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_again_and_again_counts_as_locked() {
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("one");
    let open = || opened(&path).and_then(|file| fs::remove_file(&path).map(|()| file));
    assert!(matches!(lock_file(open, || named(&path)), Err(LockError::Busy)));
}

//! Pictures in PNG form: the screens of devices, and screenshots among the artifacts. A bar in the lower half shows how
//! many steps are done.

use std::{io::Cursor, sync::LazyLock};

use axum::body::Bytes;
use image::{GrayImage, ImageFormat, Luma};

const PHONE_SCREEN: (u32, u32) = (720, 1_280);

/// Width and height of any other screen. Its pictures exceed the size limit for hosts, so that they are scaled down.
const WIDE_SCREEN: (u32, u32) = (1_920, 1_080);

const BAR: u8 = 220;
const BACKGROUND: u8 = 40;

/// The screenshot at the end of a run, and the one of a failed step. All runs share them.
pub(super) static END: LazyLock<Bytes> = LazyLock::new(|| progress((96, 54), 1, 1).into());
pub(super) static FAILED_STEP: LazyLock<Bytes> = LazyLock::new(|| progress((576, 324), 1, 2).into());

pub(super) fn screen(is_phone: bool, done: usize, total: usize) -> Vec<u8> {
    progress(if is_phone { PHONE_SCREEN } else { WIDE_SCREEN }, done, total)
}

fn progress((width, height): (u32, u32), done: usize, total: usize) -> Vec<u8> {
    let [done, total] = [done, total].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let bar = width.saturating_mul(done) / total.max(1);
    let screen = GrayImage::from_fn(width, height, |x, y| {
        let is_bar = x < bar && y > height / 2;
        Luma([if is_bar { BAR } else { BACKGROUND }])
    });

    let mut file = Cursor::new(Vec::new());
    // Writing to memory does not fail, and PNG has this colour type.
    screen.write_to(&mut file, ImageFormat::Png).unwrap_or_default();
    file.into_inner()
}

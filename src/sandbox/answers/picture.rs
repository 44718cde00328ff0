//! Pictures in PNG form: the screens of devices, and screenshots of a game among the artifacts.

use std::{io::Cursor, sync::LazyLock};

use axum::body::Bytes;
use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};

/// Width and height of a phone's screen.
const PHONE_SCREEN: (u32, u32) = (720, 1_280);

/// Width and height of any other screen. Its pictures exceed the size limit for hosts, so that they are scaled down.
const WIDE_SCREEN: (u32, u32) = (1_920, 1_080);

/// Brightness of the bar, and of the rest of the screen.
const BAR: u8 = 220;
const BACKGROUND: u8 = 40;

/// Width and height of a screenshot of the game, in its own pixels.
const GAME_SCREEN: (u32, u32) = (96, 54);

/// Pixels of the large screenshot for each pixel of the game.
const LARGE_SCALE: u32 = 6;

/// The screenshot of a failed step. Its encoding takes time, so that all runs share it.
static FAILED_STEP: LazyLock<Bytes> = LazyLock::new(|| {
    let [width, height] = [GAME_SCREEN.0, GAME_SCREEN.1].map(|side| side * LARGE_SCALE);
    let screen =
        RgbImage::from_fn(width, height, |x, y| game_pixel(x / LARGE_SCALE, y / LARGE_SCALE, [0; 3], true));
    encode(&screen.into()).into()
});

/// Returns a small PNG file of the game at the end of a run. `tint` (red, green, blue) tells players apart.
pub(super) fn game_end(tint: [u8; 3]) -> Vec<u8> {
    let (width, height) = GAME_SCREEN;
    encode(&RgbImage::from_fn(width, height, |x, y| game_pixel(x, y, tint, false)).into())
}

/// Returns a PNG file of the game at a failed step: a finger taps the pause button at the top right.
pub(super) fn game_at_failed_step() -> Bytes {
    FAILED_STEP.clone()
}

/// Returns the colour of a pixel of the game: a hero with a lantern before hills at dusk. `is_tapped` shows the ring of
/// a tap around the pause button.
fn game_pixel(x: u32, y: u32, tint: [u8; 3], is_tapped: bool) -> Rgb<u8> {
    let distance = |(to_x, to_y): (u32, u32)| x.abs_diff(to_x).pow(2) + y.abs_diff(to_y).pow(2);
    let is_below_hill = |(top_x, top_y, width): (u32, u32, u32)| y > top_y + x.abs_diff(top_x).pow(2) / width;
    let [red, green, blue] = tint.map(|part| part / 4);
    let fade = u8::try_from(y).unwrap_or(u8::MAX);

    Rgb(match (x, y) {
        (88 | 92, 4..=8) => [30, 34, 48],
        (86..=94, 2..=10) => [236, 240, 248],
        _ if is_tapped && (44..=64).contains(&distance((90, 6))) => [255, 214, 64],
        (3..=18, 3..=5) => [214, 64, 72],
        (19..=28, 3..=5) => [70, 40, 52],
        (40..=45, 32..=34) => [236, 188, 150],
        (39..=46, 35..=41) => [196, 92, 52],
        (48..=49, 36..=38) => [255, 222, 120],
        (_, 42..=43) => [70, 122, 74],
        (_, 44..) => [74, 56, 50],
        _ if is_tapped && distance((48, 37)) < 60 => [168, 132, 96],
        _ if is_below_hill((70, 22, 40)) => [40, 56, 84],
        _ if is_below_hill((18, 28, 30)) => [52, 70, 98],
        _ => [72 + red + fade, 84 + green, 128 + blue],
    })
}

/// Returns a PNG file of a screen with a bar in its lower half, whose length shows `done` of `total` steps.
pub(super) fn screen(is_phone: bool, done: usize, total: usize) -> Vec<u8> {
    let (width, height) = if is_phone { PHONE_SCREEN } else { WIDE_SCREEN };
    let [done, total] = [done, total].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let bar = width.saturating_mul(done) / total.max(1);
    let screen = GrayImage::from_fn(width, height, |x, y| {
        let is_bar = x < bar && y > height / 2;
        Luma([if is_bar { BAR } else { BACKGROUND }])
    });

    encode(&screen.into())
}

fn encode(image: &DynamicImage) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    // Writing to memory does not fail, and PNG has both colour types and these sizes.
    image.write_to(&mut file, ImageFormat::Png).unwrap_or_default();
    file.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_covers_the_share_of_the_steps_that_are_done() {
        for (done, total, last_bar_column) in [(1, 4, 179), (3, 4, 539), (4, 4, 719)] {
            let picture = image::load_from_memory(&screen(true, done, total)).unwrap().into_luma8();
            let last = (0..720).rev().find(|x| picture.get_pixel(*x, 1_000).0[0] == BAR);
            assert_eq!(last, Some(last_bar_column), "{done} of {total}");
        }
    }
}

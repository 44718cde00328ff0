//! Pictures in PNG form: the screens of devices, and plain colours for screenshots among the artifacts.

use std::io::Cursor;

use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};

/// Width and height of a phone's screen.
const PHONE_SCREEN: (u32, u32) = (720, 1_280);

/// Width and height of any other screen. Its pictures exceed the size limit for hosts, so that they are scaled down.
const WIDE_SCREEN: (u32, u32) = (1_920, 1_080);

/// Brightness of the bar, and of the rest of the screen.
const BAR: u8 = 220;
const BACKGROUND: u8 = 40;

/// Returns a PNG file of one colour (red, green, blue).
pub(super) fn plain_colour(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    encode(&RgbImage::from_pixel(width, height, Rgb(colour)).into())
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

//! Screenshots that are malformed or too large: the reply gives a reason in their place, and keeps everything else.

use image::{DynamicImage, GrayImage, ImageFormat};
use serde_json::{Value, json};

use super::{
    pictures::{file, noise, screenshot, size},
    reply_with_screenshots,
};

/// The reason that takes the place of a bad screenshot. The good screenshot beside it is delivered.
async fn omission(bad: Value) -> Value {
    let good = screenshot(&noise(4, 4), "image/png");
    let (screenshots, images) = reply_with_screenshots(&[bad, good]).await;

    assert_eq!((images.len(), &screenshots[1]["image"]), (1, &json!(1)));

    let text = screenshots[0].to_string();

    assert!(text.len() < 200, "{text}");
    assert_eq!(screenshots[0].as_object().map(serde_json::Map::len), Some(1), "{text}");
    screenshots[0]["omitted"].clone()
}

/// A PNG file whose header claims these dimensions, with this bit depth and colour type.
fn decompression_bomb(width: u32, height: u32, depth: u8, colour: u8) -> Vec<u8> {
    let mut png = file(&GrayImage::new(1, 1).into(), ImageFormat::Png);
    // The header chunk: width at byte 16, height at 20, depth and colour type at 24, checksum at 29 (RFC 2083, 3.2).
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    png[24..26].copy_from_slice(&[depth, colour]);

    let checksum = crc32(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());

    png
}

/// The checksum of PNG (RFC 2083, 3.4).
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[tokio::test]
async fn pictures_with_huge_dimensions_are_not_decoded() {
    let reason = json!("it is too large to decode (limit: 8192 pixels a side, and 33 million pixels)");
    for (width, height, depth, colour) in
        [(60_000, 60_000, 8, 0), (8_193, 1, 8, 0), (1, i32::MAX.unsigned_abs(), 8, 6), (8_192, 8_192, 16, 6)]
    {
        let found =
            omission(screenshot(&decompression_bomb(width, height, depth, colour), "image/png")).await;
        assert_eq!(found, reason, "{width}x{height}");
    }
}

#[tokio::test]
async fn data_that_is_not_base64_is_omitted_with_the_reason() {
    let reason = json!("its data is not Base64");
    let png = screenshot(&noise(4, 4), "image/png");
    let mut hexadecimal = png.clone();

    hexadecimal["encoding"] = json!("hex");
    let texts = ["?", "=", "iVBOR", "iVBORw0KGgo=\u{202e}", "data:image/png;base64,iVBORw0KGgo=", "\u{0}"];
    let texts = texts.map(|data| json!({"data": data, "mimeType": "image/png"}));

    for bad in texts.into_iter().chain([hexadecimal, json!("no object at all")]) {
        assert_eq!(omission(bad.clone()).await, reason, "{bad}");
    }
}

#[tokio::test]
async fn base64_may_be_wrapped_and_unpadded() {
    let png = noise(5, 4);
    let mut wrapped = screenshot(&png, "image/png");
    let data = wrapped["data"].as_str().expect("Base64").trim_end_matches('=');
    let lines: Vec<_> = data.as_bytes().chunks(20).map(String::from_utf8_lossy).collect();

    wrapped["data"] = json!(lines.join("\r\n"));
    wrapped["encoding"] = json!("BASE64");

    let (_, images) = reply_with_screenshots(&[wrapped]).await;

    assert_eq!(size(&images[0]), (5, 4));
}

#[tokio::test]
async fn damaged_pictures_are_omitted_with_the_reason() {
    let large = noise(2_000, 20);
    for damaged in [
        &b"\x89PNG\r\n\x1a\n"[..],
        b"\xff\xd8\xff",
        &large[..large.len() / 2],
        &decompression_bomb(0, 0, 8, 0),
        &decompression_bomb(1_500, 1_500, 8, 0),
    ] {
        let found = omission(screenshot(damaged, "image/png")).await;
        assert_eq!(found, "it is damaged", "{} bytes", damaged.len());
    }
}

#[tokio::test]
async fn the_bytes_decide_the_content_type_and_not_the_stated_one() {
    for stated in ["image/jpeg", "text/html", "", "image/png; charset=utf-8"] {
        let (screenshots, images) = reply_with_screenshots(&[screenshot(&noise(4, 4), stated)]).await;
        assert_eq!(
            (&screenshots[0]["mimeType"], &images[0].0),
            (&json!("image/png"), &json!("image/png")),
            "{stated}"
        );
    }

    for (other, stated) in [
        (&b"GIF89a\x01\0\x01\0\0\0\0;"[..], "image/png"),
        (b"RIFF\x1a\0\0\0WEBPVP8L", "image/webp"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"", "x` \u{202e}\nyes"),
    ] {
        assert_eq!(omission(screenshot(other, stated)).await, "it is neither PNG nor JPEG", "{stated}");
    }
}

#[tokio::test]
async fn screenshots_without_data_are_unchanged() {
    let without_data =
        [json!({"url": "https://x.example/1.png"}), json!({"data": 7}), json!([1]), json!(true)];
    let (screenshots, images) = reply_with_screenshots(&without_data).await;
    assert_eq!((screenshots.as_slice(), images.len()), (&without_data[..], 0));
}

#[tokio::test]
async fn a_picture_with_16_bits_per_channel_is_resized() {
    let picture = file(&DynamicImage::new_rgba16(1_600, 10), ImageFormat::Png);
    let (_, images) = reply_with_screenshots(&[screenshot(&picture, "image/png")]).await;
    assert_eq!(size(&images[0]), (1_568, 10));
}

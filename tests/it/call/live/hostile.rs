//! Screenshots that are none, or that would take too much: a word says so, and the rest of the reply is whole.

use image::{DynamicImage, GrayImage, ImageFormat};
use serde_json::{Value, json};

use super::{
    look_at,
    pictures::{file, noise, screenshot, size},
};

/// The word in place of a picture, beside which another one is delivered.
async fn omitted(bad: Value) -> Value {
    let good = screenshot(&noise(4, 4), "image/png");
    let (said, images) = look_at(&[bad, good]).await;

    assert_eq!((images.len(), &said[1]["image"]), (1, &json!(1)));

    let text = said[0].to_string();

    assert!(text.len() < 200, "{text}");
    assert_eq!(said[0].as_object().map(serde_json::Map::len), Some(1), "{text}");
    said[0]["omitted"].clone()
}

/// A picture whose head claims these dimensions, with this depth and kind of colour.
fn bomb(width: u32, height: u32, depth: u8, colour: u8) -> Vec<u8> {
    let mut png = file(&GrayImage::new(1, 1).into(), ImageFormat::Png);
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
async fn the_bomb_is_armed() {
    let (said, images) = look_at(&[screenshot(&bomb(1_500, 1_500, 8, 0), "image/png")]).await;
    assert_eq!((images.len(), &said[0]["width"]), (1, &json!(1_500)), "its head is believed");
}

#[tokio::test]
async fn huge_dimensions_are_not_decoded() {
    let word = json!("it is too large to decode (limit: 8192 pixels a side)");
    for (width, height, depth, colour) in
        [(60_000, 60_000, 8, 0), (8_193, 1, 8, 0), (1, i32::MAX.unsigned_abs(), 8, 6), (8_192, 8_192, 16, 6)]
    {
        let found = omitted(screenshot(&bomb(width, height, depth, colour), "image/png")).await;
        assert_eq!(found, word, "{width}x{height}");
    }
}

#[tokio::test]
async fn what_is_no_base64_is_said_to_be_none() {
    let word = json!("its data is not Base64");
    let png = screenshot(&noise(4, 4), "image/png");
    let mut hexadecimal = png.clone();

    hexadecimal["encoding"] = json!("hex");
    let texts = ["?", "=", "iVBOR", "iVBORw0KGgo=\u{202e}", "data:image/png;base64,iVBORw0KGgo=", "\u{0}"];
    let texts = texts.map(|data| json!({"data": data, "mimeType": "image/png"}));

    for bad in texts.into_iter().chain([hexadecimal, json!("no object at all")]) {
        assert_eq!(omitted(bad.clone()).await, word, "{bad}");
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

    let (_, images) = look_at(&[wrapped]).await;

    assert_eq!(size(&images[0]), (5, 4));
}

#[tokio::test]
async fn broken_pictures_are_said_to_be_broken() {
    let large = noise(2_000, 20);
    for broken in [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", &large[..large.len() / 2], &bomb(0, 0, 8, 0)] {
        let found = omitted(screenshot(broken, "image/png")).await;
        assert_eq!(found, "it is damaged", "{} bytes", broken.len());
    }
}

#[tokio::test]
async fn the_file_decides_what_it_is_and_not_the_type_that_is_stated() {
    for stated in ["image/jpeg", "text/html", "", "image/png; charset=utf-8"] {
        let (said, images) = look_at(&[screenshot(&noise(4, 4), stated)]).await;
        assert_eq!(
            (&said[0]["mimeType"], &images[0].0),
            (&json!("image/png"), &json!("image/png")),
            "{stated}"
        );
    }
    for (other, stated, shown) in [
        (&b"GIF89a\x01\0\x01\0\0\0\0;"[..], "image/png", "image/png"),
        (b"RIFF\x1a\0\0\0WEBPVP8L", "image/webp", "image/webp"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "image/svg+xml"),
        (b"", "x` \u{202e}\nyes", "xyes"),
    ] {
        let found = omitted(screenshot(other, stated)).await;
        assert_eq!(found, json!(format!("it is neither PNG nor JPEG; the stated content type is `{shown}`")));
    }
}

#[tokio::test]
async fn what_holds_no_data_is_left_as_it_is() {
    let odd = [json!({"url": "https://x.example/1.png"}), json!({"data": 7}), json!([1]), json!(true)];
    let (said, images) = look_at(&odd).await;
    assert_eq!((said.as_slice(), images.len()), (&odd[..], 0));
}

#[tokio::test]
async fn a_picture_of_many_colours_is_made_smaller_too() {
    let deep = file(&DynamicImage::new_rgba16(1_600, 10), ImageFormat::Png);
    let (_, images) = look_at(&[screenshot(&deep, "image/png")]).await;
    assert_eq!(size(&images[0]), (1_568, 10));
}

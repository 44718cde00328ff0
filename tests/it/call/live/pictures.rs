//! Pictures of every size, and how many of them.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage};
use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{answer, look, look_at, open};

/// A file with noise in it, which no encoder makes small.
pub(super) fn noise(width: u32, height: u32) -> Vec<u8> {
    let noise =
        |x: u32, y: u32| Luma([(x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).to_le_bytes()[2]]);
    file(&GrayImage::from_fn(width, height, noise).into(), ImageFormat::Png)
}

pub(super) fn file(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).expect("a picture");
    file.into_inner()
}

pub(super) fn screenshot(file: &[u8], mime_type: &str) -> Value {
    json!({"data": BASE64_STANDARD.encode(file), "mimeType": mime_type, "encoding": "base64"})
}

/// Width and height of an image of a reply, which is of the type that it says.
pub(super) fn size((mime_type, data): &(Value, String)) -> (u32, u32) {
    let file = BASE64_STANDARD.decode(data).expect("Base64");
    let format = ImageFormat::from_mime_type(mime_type.as_str().expect("a type")).expect("a known type");
    let picture = image::load_from_memory_with_format(&file, format).expect("a whole picture");
    (picture.width(), picture.height())
}

#[tokio::test]
async fn a_small_picture_is_passed_on_as_it_came() {
    let png = noise(1_568, 3);
    let jpeg = file(&RgbImage::new(40, 30).into(), ImageFormat::Jpeg);
    let (said, images) = look_at(&[screenshot(&png, "image/png"), screenshot(&jpeg, "image/jpeg")]).await;

    assert_eq!(said[0], json!({"image": 1, "mimeType": "image/png", "width": 1568, "height": 3}));
    assert_eq!(said[1], json!({"image": 2, "mimeType": "image/jpeg", "width": 40, "height": 30}));

    let expected = [(json!("image/png"), png), (json!("image/jpeg"), jpeg)];

    assert_eq!(images, expected.map(|(kind, file)| (kind, BASE64_STANDARD.encode(file))));
}

#[tokio::test]
async fn a_large_picture_keeps_its_kind_and_its_proportions() {
    let wide = file(&RgbImage::new(3_136, 1_000).into(), ImageFormat::Jpeg);
    let high = file(&GrayImage::new(1, 4_000).into(), ImageFormat::Png);
    let (said, images) = look_at(&[screenshot(&wide, "image/jpeg"), screenshot(&high, "image/png")]).await;

    assert_eq!((size(&images[0]), size(&images[1])), ((1_568, 500), (1, 1_568)));

    let sizes = |said: &Value| {
        ["width", "height", "original_width", "original_height"].map(|name| said[name].clone())
    };

    assert_eq!(sizes(&said[0]), [1_568, 500, 3_136, 1_000].map(|side| json!(side)));
    assert_eq!(sizes(&said[1]), [1, 1_568, 1, 4_000].map(|side| json!(side)));
    assert_eq!((&said[0]["mimeType"], &said[1]["mimeType"]), (&json!("image/jpeg"), &json!("image/png")));
}

#[tokio::test]
async fn players_without_a_screenshot_do_not_count() {
    let one = screenshot(&noise(4, 4), "image/png");
    let (said, images) = look_at(&[json!(null), one.clone(), json!({"data": "?"}), one]).await;
    let numbers: Vec<_> = said.iter().map(|said| said["image"].clone()).collect();
    assert_eq!(numbers, [json!(null), json!(1), json!(null), json!(2)]);
    assert_eq!((images.len(), &said[0]), (2, &json!(null)));
}

#[tokio::test]
async fn fields_that_nobody_knows_are_kept() {
    let mut one = screenshot(&noise(4, 4), "image/png");
    one["captured_at"] = json!("2026-03-02T09:15:00+00:00");
    one["image"] = json!("mine");

    let (said, _) = look_at(&[one]).await;
    let expected = json!({
        "image": 1, "mimeType": "image/png", "width": 4, "height": 4, "captured_at": "2026-03-02T09:15:00+00:00",
    });

    assert_eq!(said[0], expected);
}

#[tokio::test]
async fn a_reply_has_at_most_sixteen_images() {
    let (said, images) = look_at(&vec![screenshot(&noise(4, 4), "image/png"); 18]).await;
    assert_eq!((images.len(), &said[15]["image"]), (16, &json!(16)));
    for said in &said[16..] {
        assert_eq!(*said, json!({"omitted": "only the first 16 pictures are shown"}));
    }
}

#[tokio::test]
async fn images_do_not_count_for_the_length_of_a_reply() {
    let (service, mut host) = open(keys::DEMO, &[("TAS_MAX_REPLY_CHARS", "2000")]).await;
    let screenshot = screenshot(&noise(300, 300), "image/png");
    assert!(screenshot["data"].as_str().expect("Base64").len() > 10_000);
    service.fault(json!({"operation": "get_live_run", "body": answer(&[screenshot])})).await;
    let (run, images) = look(&mut host, json!({"run_id": "x"})).await;
    assert_eq!((&run["truncated"], size(&images[0])), (&Value::Null, (300, 300)));
}

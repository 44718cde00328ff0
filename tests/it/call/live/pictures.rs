//! Number and size of the images of a reply.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage};
use serde_json::{Value, json};

use super::{get_live_run, live_run, reply_with_screenshots};
use crate::support::fixture::{Fixture, Session};

/// A PNG file of noise, which no encoder can compress.
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

/// Width and height of an image of a reply. Panics unless the image has its stated type.
pub(super) fn size((mime_type, data): &(Value, String)) -> (u32, u32) {
    let file = BASE64_STANDARD.decode(data).expect("Base64");
    let format = ImageFormat::from_mime_type(mime_type.as_str().expect("a type")).expect("a known type");
    let picture = image::load_from_memory_with_format(&file, format).expect("a whole picture");
    (picture.width(), picture.height())
}

#[tokio::test]
async fn a_small_picture_is_passed_on_unchanged() {
    let png = noise(1_568, 3);
    let jpeg = file(&RgbImage::new(40, 30).into(), ImageFormat::Jpeg);
    let (screenshots, images) =
        reply_with_screenshots(&[screenshot(&png, "image/png"), screenshot(&jpeg, "image/jpeg")]).await;

    assert_eq!(screenshots[0], json!({"image": 1, "mimeType": "image/png", "width": 1568, "height": 3}));
    assert_eq!(screenshots[1], json!({"image": 2, "mimeType": "image/jpeg", "width": 40, "height": 30}));

    let expected = [(json!("image/png"), png), (json!("image/jpeg"), jpeg)];

    assert_eq!(images, expected.map(|(kind, file)| (kind, BASE64_STANDARD.encode(file))));
}

#[tokio::test]
async fn a_large_picture_is_resized_with_its_type_and_proportions() {
    let wide = file(&RgbImage::new(3_136, 1_000).into(), ImageFormat::Jpeg);
    let high = file(&GrayImage::new(1, 4_000).into(), ImageFormat::Png);
    let (screenshots, images) =
        reply_with_screenshots(&[screenshot(&wide, "image/jpeg"), screenshot(&high, "image/png")]).await;

    assert_eq!((size(&images[0]), size(&images[1])), ((1_568, 500), (1, 1_568)));

    let sizes = |screenshot: &Value| {
        ["width", "height", "original_width", "original_height"].map(|name| screenshot[name].clone())
    };

    assert_eq!(sizes(&screenshots[0]), [1_568, 500, 3_136, 1_000].map(|side| json!(side)));
    assert_eq!(sizes(&screenshots[1]), [1, 1_568, 1, 4_000].map(|side| json!(side)));
    assert_eq!(
        (&screenshots[0]["mimeType"], &screenshots[1]["mimeType"]),
        (&json!("image/jpeg"), &json!("image/png"))
    );
}

#[tokio::test]
async fn only_delivered_screenshots_are_numbered() {
    let one = screenshot(&noise(4, 4), "image/png");
    let (screenshots, images) =
        reply_with_screenshots(&[json!(null), one.clone(), json!({"data": "?"}), one]).await;
    let numbers: Vec<_> = screenshots.iter().map(|screenshot| screenshot["image"].clone()).collect();
    assert_eq!(numbers, [json!(null), json!(1), json!(null), json!(2)]);
    assert_eq!((images.len(), &screenshots[0]), (2, &json!(null)));
}

#[tokio::test]
async fn unknown_fields_of_a_screenshot_are_kept() {
    let mut one = screenshot(&noise(4, 4), "image/png");
    one["captured_at"] = json!("2026-03-02T09:15:00+00:00");
    one["image"] = json!("mine");

    let (screenshots, _) = reply_with_screenshots(&[one]).await;
    let expected = json!({
        "image": 1, "mimeType": "image/png", "width": 4, "height": 4, "captured_at": "2026-03-02T09:15:00+00:00",
    });

    assert_eq!(screenshots[0], expected);
}

#[tokio::test]
async fn a_reply_has_at_most_sixteen_images() {
    let (screenshots, images) =
        reply_with_screenshots(&vec![screenshot(&noise(4, 4), "image/png"); 18]).await;
    assert_eq!((images.len(), &screenshots[15]["image"]), (16, &json!(16)));
    for screenshot in &screenshots[16..] {
        assert_eq!(*screenshot, json!({"omitted": "only the first 16 pictures are shown"}));
    }
}

#[tokio::test]
async fn images_do_not_count_towards_the_maximum_length_of_a_reply() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_MAX_REPLY_CHARS", "2000")]).open().await;
    let screenshot = screenshot(&noise(300, 300), "image/png");
    assert!(screenshot["data"].as_str().expect("Base64").len() > 10_000);
    service.fault(json!({"operation": "get_live_run", "body": live_run(&[screenshot])})).await;
    let (run, images) = get_live_run(&mut host, json!({"run_id": "x"})).await;
    assert_eq!((&run["truncated"], size(&images[0])), (&Value::Null, (300, 300)));
}

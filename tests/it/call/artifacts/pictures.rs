//! Pictures among the files of players are images of the reply.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage};
use serde_json::{Value, json};

use super::{answering, answering_bytes, bytes_in_sandbox, file, part, settings_of};
use crate::support::{
    fixture::{Fixture, Session},
    host::{Host, reply_of},
    peer::Peer,
};

/// Calls `get_run_artifact`. Returns the structure of the reply, and its images as media type and bytes.
async fn get_artifact(host: &mut Host, arguments: Value) -> (Value, Vec<(String, Vec<u8>)>) {
    let result = host.call("get_run_artifact", arguments).await;

    assert_ne!(result["isError"], true, "{result}");

    let (text, blocks) = (reply_of(&result), result["content"].as_array().expect("blocks"));
    let images = blocks.iter().skip(1).map(|block| {
        assert_eq!(block["type"], "image");
        let data = BASE64_STANDARD.decode(block["data"].as_str().expect("Base64")).expect("Base64");
        (block["mimeType"].as_str().expect("a type").to_owned(), data)
    });

    (text, images.collect())
}

fn encode(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).expect("a picture");
    file.into_inner()
}

/// A picture whose file is large, because no encoder makes noise small.
fn noise(width: u32, height: u32) -> Vec<u8> {
    let noise =
        |x: u32, y: u32| Luma([(x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).to_le_bytes()[2]]);
    encode(&GrayImage::from_fn(width, height, noise).into(), ImageFormat::Png)
}

/// Returns the file with another byte at `place`.
fn edited(file: &[u8], place: usize) -> Vec<u8> {
    let mut file = file.to_vec();
    file[place] ^= 0xff;
    file
}

#[tokio::test]
async fn a_small_picture_is_an_unchanged_image_of_the_reply() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let (reply, images) = get_artifact(&mut host, file("screenshots/end.png")).await;
    let expected = bytes_in_sandbox(&service, "screenshots/end.png").await;

    assert_eq!(reply["picture"], json!({"image": 1, "mimeType": "image/png", "width": 96, "height": 54}));
    assert_eq!(
        (&reply["size"], &reply["hint"], &reply["text"]),
        (&json!(expected.len()), &Value::Null, &Value::Null)
    );
    assert!(images == [("image/png".to_owned(), expected)]);
}

#[tokio::test]
async fn a_small_picture_takes_one_request_and_a_larger_one_takes_two() {
    for (picture, requests) in [(noise(60, 60), 1), (noise(300, 300), 2)] {
        let (mut peer, mut host) = answering("200 OK\r\ncontent-type: image/png", &picture).await;
        let (reply, images) = get_artifact(&mut host, file("a.png")).await;
        assert_eq!(reply["size"], picture.len());
        assert!(images == [("image/png".to_owned(), picture)]);
        let sent = peer.requests();
        assert_eq!(sent.len(), requests, "{sent:?}");
    }
}

#[tokio::test]
async fn the_whole_picture_is_read_although_a_part_is_requested() {
    let picture = noise(300, 300);
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let (_, images) = get_artifact(&mut host, part("screenshots/end.png", 7, 1)).await;

    assert!(images[0].1 == bytes_in_sandbox(&service, "screenshots/end.png").await);

    let size = picture.len();
    let head = format!(
        "206 Partial Content\r\ncontent-type: image/png\r\ncontent-range: bytes 0-{}/{size}",
        size - 1
    );
    let (mut peer, mut host) = answering(&head, &picture).await;
    let (_, images) = get_artifact(&mut host, part("a.png", 0, 10)).await;

    assert!(images[0].1 == picture);

    let requests = peer.requests();

    // The first request shows that the file is a picture; the second one reads as much as a picture may have.
    assert!(requests[0].contains("range: bytes=0-12\r\n"), "{requests:?}");
    assert!(requests[1].contains("range: bytes=0-1677"), "{requests:?}");
}

#[tokio::test]
async fn a_large_picture_is_resized() {
    let wide = encode(&RgbImage::new(3_136, 1_000).into(), ImageFormat::Jpeg);
    let (_peer, mut host) = answering("200 OK\r\ncontent-type: image/jpeg", &wide).await;
    let (reply, images) = get_artifact(&mut host, file("a.jpg")).await;
    let expected = json!({
        "image": 1, "mimeType": "image/jpeg", "width": 1568, "height": 500, "original_width": 3136,
        "original_height": 1000,
    });

    assert_eq!((&reply["picture"], &reply["size"]), (&expected, &json!(wide.len())));

    let smaller = image::load_from_memory_with_format(&images[0].1, ImageFormat::Jpeg).expect("a picture");

    assert_eq!((smaller.width(), smaller.height()), (1_568, 500));
}

#[tokio::test]
async fn the_bytes_decide_whether_a_file_is_a_picture() {
    let picture = noise(20, 20);
    for stated in ["application/octet-stream", "text/plain", "", "image/webp"] {
        let (_peer, mut host) = answering(&format!("200 OK\r\ncontent-type: {stated}"), &picture).await;
        let (reply, images) = get_artifact(&mut host, file("a")).await;
        assert_eq!((&reply["picture"]["image"], images.len()), (&json!(1), 1), "{stated}");
    }

    for (stated, bytes) in [
        ("image/webp", &b"RIFF\x1a\0\0\0WEBPVP8L"[..]),
        ("image/gif", b"GIF89a\x01\0\x01\0\0\0\0;"),
        ("video/mp4", &picture),
    ] {
        let (mut peer, mut host) = answering(&format!("200 OK\r\ncontent-type: {stated}"), bytes).await;
        let (reply, images) = get_artifact(&mut host, file("a")).await;
        assert_eq!((images.len(), &reply["size"]), (0, &json!(bytes.len())));
        assert!(reply["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{reply}");
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test]
async fn the_reply_for_a_damaged_picture_names_the_tool_that_saves_it() {
    let large = noise(2_000, 20);
    let (png, jpeg) = (noise(40, 40), encode(&RgbImage::new(40, 40).into(), ImageFormat::Jpeg));
    let (without_end, wrong_checksum) = (&png[..png.len() - 12], edited(&png, png.len() - 14));
    let (without_pixels, rubbish) = ([&png[..33], &png[png.len() - 12..]].concat(), edited(&png, 60));
    for damaged in [
        &large[..large.len() / 2],
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        &png[..png.len() / 2],
        without_end,
        &without_pixels,
        &rubbish,
        &wrong_checksum,
        &jpeg[..jpeg.len() - 20],
    ] {
        let (_peer, mut host) = answering("200 OK\r\ncontent-type: image/png", damaged).await;
        let (reply, images) = get_artifact(&mut host, file("a.png")).await;
        assert_eq!((images.len(), &reply["picture"]), (0, &json!({"omitted": "it is damaged"})));
        assert!(reply["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{reply}");
    }
}

#[tokio::test]
async fn a_picture_above_the_size_limit_is_not_read() {
    let size = 16 * 1024 * 1024 + 1;
    let head = "HTTP/1.1 206 Partial Content\r\ncontent-type: image/png\r\n";
    let head = format!("{head}content-range: bytes 0-7/{size}\r\ncontent-length: 8\r\n\r\n");
    let (mut peer, mut host) = answering_bytes([head.as_bytes(), b"\x89PNG\r\n\x1a\n"].concat()).await;
    let (reply, images) = get_artifact(&mut host, file("a.png")).await;

    assert_eq!((images.len(), &reply["size"], &reply["picture"]), (0, &json!(size), &Value::Null));
    assert!(reply["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{reply}");
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn a_picture_of_unknown_length_is_read_to_its_end() {
    let picture = noise(300, 300);
    let answer = [b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n", picture.as_slice()].concat();
    let (_peer, mut host) = answering_bytes(answer).await;
    let (reply, images) = get_artifact(&mut host, file("a.png")).await;
    assert_eq!(reply["size"], picture.len());
    assert!(images[0].1 == picture);
}

#[tokio::test]
async fn a_picture_in_storage_is_followed_without_the_key() {
    let picture = noise(300, 300);
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: {}\r\n\r\n", picture.len());
    let mut storage = Peer::answering([head.as_bytes(), &picture].concat()).await;
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nlocation: http://{}/a\r\ncontent-length: 0\r\n\r\n",
        storage.address()
    );
    let mut peer = Peer::answering(redirect).await;
    let mut host = Host::open(&settings_of(&peer)).await;
    let (_, images) = get_artifact(&mut host, file("a.png")).await;

    assert!(images[0].1 == picture);
    assert_eq!(peer.requests().len(), 2);
    assert!(storage.requests().iter().all(|request| !request.contains("x-api-key")));
}

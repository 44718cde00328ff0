//! Pictures among the files of players are images of the reply.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage};
use serde_json::{Value, json};

use super::{answering, at, file, open, part, raw, served};
use crate::support::{
    host::Host,
    peer::{Event, Peer},
};

/// What is said of a picture, and the images of the reply as media type and bytes.
async fn look(host: &mut Host, arguments: Value) -> (Value, Vec<(String, Vec<u8>)>) {
    let result = host.call("get_run_artifact", arguments).await;

    assert_ne!(result["isError"], true, "{result}");

    let blocks = result["content"].as_array().expect("blocks");
    let text: Value = serde_json::from_str(blocks[0]["text"].as_str().expect("text")).expect("JSON");

    assert_eq!(text, result["structuredContent"], "text and structure say the same");

    let images = blocks.iter().skip(1).map(|block| {
        assert_eq!(block["type"], "image");
        let data = BASE64_STANDARD.decode(block["data"].as_str().expect("Base64")).expect("Base64");
        (block["mimeType"].as_str().expect("a type").to_owned(), data)
    });

    (text, images.collect())
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).expect("a picture");
    file.into_inner()
}

/// A picture whose file is large, because no encoder makes noise small.
fn noise(width: u32, height: u32) -> Vec<u8> {
    let noise =
        |x: u32, y: u32| Luma([(x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).to_le_bytes()[2]]);
    encoded(&GrayImage::from_fn(width, height, noise).into(), ImageFormat::Png)
}

#[tokio::test]
async fn a_picture_of_a_run_is_an_image_as_it_came() {
    let (service, mut host) = open(&[]).await;
    let (shown, images) = look(&mut host, file("screenshots/end.png")).await;
    let whole = served(&service, "screenshots/end.png").await;

    assert_eq!(shown["picture"], json!({"image": 1, "mimeType": "image/png", "width": 96, "height": 54}));
    assert_eq!(
        (&shown["size"], &shown["hint"], &shown["text"]),
        (&json!(whole.len()), &Value::Null, &Value::Null)
    );
    assert!(images == [("image/png".to_owned(), whole)]);
}

#[tokio::test]
async fn a_small_picture_takes_one_request_and_a_larger_one_two() {
    for (picture, requests) in [(noise(60, 60), 1), (noise(300, 300), 2)] {
        let (mut peer, mut host) = answering("200 OK\r\ncontent-type: image/png", &picture).await;
        let (shown, images) = look(&mut host, file("a.png")).await;
        assert_eq!(shown["size"], picture.len());
        assert!(images == [("image/png".to_owned(), picture)]);
        let asked = peer.requests();
        assert_eq!(asked.len(), requests, "{asked:?}");
    }
}

#[tokio::test]
async fn the_whole_of_a_picture_is_asked_for_whatever_part_is_wanted() {
    let picture = noise(300, 300);
    let (service, mut host) = open(&[]).await;
    let (_, images) = look(&mut host, part("screenshots/end.png", 7, 1)).await;

    assert!(images[0].1 == served(&service, "screenshots/end.png").await);

    let size = picture.len();
    let head = format!(
        "206 Partial Content\r\ncontent-type: image/png\r\ncontent-range: bytes 0-{}/{size}",
        size - 1
    );
    let (mut peer, mut host) = answering(&head, &picture).await;
    let (_, images) = look(&mut host, part("a.png", 0, 10)).await;

    assert!(images[0].1 == picture);

    let ranges: Vec<_> = std::iter::repeat_with(|| ()).take(2).collect();
    let mut said = Vec::new();

    for () in ranges {
        loop {
            if let Event::Request(request) = peer.next().await {
                said.push(request);
                break;
            }
        }
    }

    assert!(said[0].contains("range: bytes=0-12\r\n") && said[1].contains("range: bytes=0-1677"), "{said:?}");
}

#[tokio::test]
async fn a_large_picture_is_made_smaller() {
    let wide = encoded(&RgbImage::new(3_136, 1_000).into(), ImageFormat::Jpeg);
    let (_peer, mut host) = answering("200 OK\r\ncontent-type: image/jpeg", &wide).await;
    let (shown, images) = look(&mut host, file("a.jpg")).await;
    let expected = json!({
        "image": 1, "mimeType": "image/jpeg", "width": 1568, "height": 500, "original_width": 3136,
        "original_height": 1000,
    });

    assert_eq!((&shown["picture"], &shown["size"]), (&expected, &json!(wide.len())));

    let smaller = image::load_from_memory_with_format(&images[0].1, ImageFormat::Jpeg).expect("a picture");

    assert_eq!((smaller.width(), smaller.height()), (1_568, 500));
}

#[tokio::test]
async fn the_bytes_decide_whether_it_is_a_picture() {
    let picture = noise(20, 20);
    for stated in ["application/octet-stream", "text/plain", "", "image/webp"] {
        let (_peer, mut host) = answering(&format!("200 OK\r\ncontent-type: {stated}"), &picture).await;
        let (shown, images) = look(&mut host, file("a")).await;
        assert_eq!((&shown["picture"]["image"], images.len()), (&json!(1), 1), "{stated}");
    }

    for (stated, bytes) in [
        ("image/webp", &b"RIFF\x1a\0\0\0WEBPVP8L"[..]),
        ("image/gif", b"GIF89a\x01\0\x01\0\0\0\0;"),
        ("video/mp4", &picture),
    ] {
        let (mut peer, mut host) = answering(&format!("200 OK\r\ncontent-type: {stated}"), bytes).await;
        let (shown, images) = look(&mut host, file("a")).await;
        assert_eq!((images.len(), &shown["size"]), (0, &json!(bytes.len())));
        assert!(shown["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{shown}");
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_broken_picture_is_described_with_the_way_to_save_it() {
    let large = noise(2_000, 20);
    for broken in [&large[..large.len() / 2], b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"] {
        let (_peer, mut host) = answering("200 OK\r\ncontent-type: image/png", broken).await;
        let (shown, images) = look(&mut host, file("a.png")).await;
        assert_eq!((images.len(), &shown["picture"]), (0, &json!({"omitted": "it is damaged"})));
        assert!(shown["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{shown}");
    }
}

#[tokio::test]
async fn a_picture_that_is_too_long_is_not_read() {
    let size = 16 * 1024 * 1024 + 1;
    let head = "HTTP/1.1 206 Partial Content\r\ncontent-type: image/png\r\n";
    let head = format!("{head}content-range: bytes 0-7/{size}\r\ncontent-length: 8\r\n\r\n");
    let (mut peer, mut host) = raw([head.as_bytes(), b"\x89PNG\r\n\x1a\n"].concat()).await;
    let (shown, images) = look(&mut host, file("a.png")).await;

    assert_eq!((images.len(), &shown["size"], &shown["picture"]), (0, &json!(size), &Value::Null));
    assert!(shown["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{shown}");
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn a_picture_of_unknown_length_is_read_to_its_end() {
    let picture = noise(300, 300);
    let answer = [b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n", picture.as_slice()].concat();
    let (_peer, mut host) = raw(answer).await;
    let (shown, images) = look(&mut host, file("a.png")).await;
    assert_eq!(shown["size"], picture.len());
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
    let mut host = Host::open(&at(&peer)).await;
    let (_, images) = look(&mut host, file("a.png")).await;

    assert!(images[0].1 == picture);
    assert_eq!(peer.requests().len(), 2);
    assert!(storage.requests().iter().all(|request| !request.contains("x-api-key")));
}

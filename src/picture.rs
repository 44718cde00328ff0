//! Images of the service in a form that MCP hosts accept: PNG or JPEG, with at most [`MAX_SIDE`] pixels a side.
//!
//! The format of an image is that of its bytes, not the content type that the service states. Decoding takes a bounded
//! amount of memory for any input, and up to some seconds of processor time. Call [`prepare`] on a blocking thread.

use std::io::Cursor;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageError, ImageFormat, ImageReader, Limits, codecs::jpeg::JpegEncoder};
use tokio_util::bytes::Bytes;

/// Longest side of a delivered image, in pixels. Models scale larger images down themselves.
pub const MAX_SIDE: u32 = 1_568;

/// Longest side of an image that is decoded, in pixels.
const MAX_DECODED_SIDE: u32 = 8_192;

/// Memory limit of decoding, in bytes: enough for 7680 x 4320 pixels of four bytes.
const MAX_DECODING_MEMORY: u64 = 128 * 1024 * 1024;

/// Largest file that is delivered, in bytes. Files may contain far more than their pixels need.
const MAX_FILE_BYTES: usize = 2 * 1024 * 1024;

/// Quality of a JPEG that was scaled down, of 100.
const JPEG_QUALITY: u8 = 80;

/// An image that can be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The file.
    pub data: Bytes,
    /// `image/png` or `image/jpeg`.
    pub mime_type: &'static str,
    /// Width of the file, in pixels.
    pub width: u32,
    /// Height of the file, in pixels.
    pub height: u32,
    /// Original width and height, if the image was scaled down.
    pub original: Option<(u32, u32)>,
}

impl Picture {
    /// Returns the file as Base64 text.
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.data)
    }

    /// Returns the extension of a file name for this image.
    pub fn extension(&self) -> &'static str {
        if self.mime_type == ImageFormat::Png.to_mime_type() { "png" } else { "jpg" }
    }
}

/// Why an image cannot be delivered.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file has another format, or is no image.
    #[error("it is neither PNG nor JPEG")]
    Format,
    /// Decoding the image would exceed the limits.
    #[error("it is too large to decode (limit: {MAX_DECODED_SIDE} pixels a side, and 33 million pixels)")]
    TooLarge,
    /// The file is incomplete or contradicts itself.
    #[error("it is damaged")]
    Damaged,
}

impl From<ImageError> for PictureError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Limits(_) => Self::TooLarge,
            _ => Self::Damaged,
        }
    }
}

/// Returns whether a file that begins with these bytes is a PNG or a JPEG.
pub fn is_supported(beginning: &[u8]) -> bool {
    format_of(beginning).is_some()
}

fn format_of(data: &[u8]) -> Option<ImageFormat> {
    image::guess_format(data).ok().filter(|format| matches!(format, ImageFormat::Png | ImageFormat::Jpeg))
}

/// Returns the image in `data`, scaled down if a side is longer than [`MAX_SIDE`], and written anew if the file is
/// larger than 2 MiB. Any other image is returned unchanged. Each is decoded: a damaged one would stay in the history of a
/// model, and make every later turn fail.
///
/// # Errors
/// The image has another format, is too large to decode, or is damaged.
pub fn prepare(data: Bytes) -> Result<Picture, PictureError> {
    let format = format_of(&data).ok_or(PictureError::Format)?;
    let decoded = decode(&data, format)?;
    let (width, height) = (decoded.width(), decoded.height());
    if width.max(height) <= MAX_SIDE && data.len() <= MAX_FILE_BYTES {
        return Ok(Picture { data, mime_type: format.to_mime_type(), width, height, original: None });
    }

    let scaled = scale_down(decoded, MAX_SIDE, MAX_SIDE);
    let picture = encode(&scaled, format, (width, height))?;
    if picture.data.len() <= MAX_FILE_BYTES || format == ImageFormat::Jpeg {
        return Ok(picture);
    }
    // A PNG that is still too large becomes a JPEG, which has no transparency.
    Ok(encode(&scaled.into_rgb8().into(), ImageFormat::Jpeg, (width, height))?)
}

/// Returns the image in `data` as a JPEG that is at most `max_width` pixels wide and twice as high. The image is always
/// decoded and written anew, so that damaged and disguised files are refused.
///
/// # Errors
/// The image has another format, is too large to decode, or is damaged.
pub fn thumbnail(data: &[u8], max_width: u32) -> Result<Picture, PictureError> {
    let format = format_of(data).ok_or(PictureError::Format)?;
    let decoded = decode(data, format)?;
    let original = (decoded.width(), decoded.height());
    let scaled = scale_down(decoded, max_width, max_width.saturating_mul(2));

    Ok(encode(&scaled.into_rgb8().into(), ImageFormat::Jpeg, original)?)
}

/// Returns an image that is not larger than this. The filter needs no second copy of the whole image.
fn scale_down(image: DynamicImage, max_width: u32, max_height: u32) -> DynamicImage {
    let is_small = image.width() <= max_width && image.height() <= max_height;
    if is_small { image } else { image.thumbnail(max_width, max_height) }
}

fn decode(data: &[u8], format: ImageFormat) -> Result<DynamicImage, PictureError> {
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(MAX_DECODED_SIDE);
    limits.max_image_height = Some(MAX_DECODED_SIDE);
    limits.max_alloc = Some(MAX_DECODING_MEMORY);

    let mut reader = ImageReader::with_format(Cursor::new(data), format);
    reader.limits(limits);
    let decoded = reader.decode()?;

    // The decoders accept a file that was cut behind the pixels, or in the middle of a JPEG. Further bytes may follow the end.
    let end: &[u8] = if format == ImageFormat::Png { b"IEND\xae\x42\x60\x82" } else { b"\xff\xd9" };
    let is_whole = data.windows(end.len()).rev().any(|bytes| bytes == end);
    if is_whole { Ok(decoded) } else { Err(PictureError::Damaged) }
}

/// Returns the file of an image that had this width and height.
fn encode(image: &DynamicImage, format: ImageFormat, original: (u32, u32)) -> Result<Picture, ImageError> {
    let mut file = Cursor::new(Vec::new());
    if format == ImageFormat::Jpeg {
        image.write_with_encoder(JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY))?;
    } else {
        image.write_to(&mut file, format)?;
    }

    let (width, height) = (image.width(), image.height());
    let original = (original != (width, height)).then_some(original);
    Ok(Picture { data: file.into_inner().into(), mime_type: format.to_mime_type(), width, height, original })
}

#[cfg(test)]
mod tests {
    use image::RgbaImage;

    use super::*;

    fn png(width: u32, height: u32) -> Bytes {
        let image = RgbaImage::new(width, height).into();
        encode(&image, ImageFormat::Png, (width, height)).expect("a PNG").data
    }

    #[test]
    fn a_thumbnail_keeps_the_proportions_and_is_never_enlarged() {
        for (size, expected) in [
            ((96, 54), (96, 54)),
            ((1_280, 720), (640, 360)),
            ((720, 1_280), (640, 1_138)),
            ((500, 2_560), (250, 1_280)),
        ] {
            let thumbnail = thumbnail(&png(size.0, size.1), 640).expect("a picture");
            let decoded = image::load_from_memory(&thumbnail.data).expect("a JPEG");

            assert_eq!((thumbnail.width, thumbnail.height), expected, "{size:?}");
            assert_eq!((decoded.width(), decoded.height()), expected, "{size:?}");
            assert_eq!(thumbnail.mime_type, "image/jpeg");
            assert_eq!(thumbnail.original, (size != expected).then_some(size));
        }
    }
}

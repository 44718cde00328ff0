//! Pictures of the service as hosts take them: PNG or JPEG, of at most [`LONGEST_SIDE`] pixels a side.
//!
//! The bytes decide what a picture is, not what is said of them. Whatever they are, they cost a bounded amount of
//! memory. Decoding takes the processor for up to some seconds: call [`deliverable`] where that holds up nobody.

use std::io::Cursor;

use bytes::Bytes;
use image::{
    DynamicImage, ImageError, ImageFormat, ImageReader, Limits, codecs::jpeg::JpegEncoder,
    imageops::FilterType,
};

/// Longest side of what is delivered, in pixels: models see no more.
pub const LONGEST_SIDE: u32 = 1_568;

/// Longest side of what is decoded, in pixels.
const LONGEST_DECODED_SIDE: u32 = 8_192;

/// Most memory that decoding may take, in bytes.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;

/// Quality of a JPEG that had to be made smaller, of 100.
const JPEG_QUALITY: u8 = 80;

/// A picture that can be delivered.
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
    /// Width and height as they came, where it had to be made smaller.
    pub original: Option<(u32, u32)>,
}

/// Why a picture cannot be delivered.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It is of another kind, or no picture.
    #[error("it is neither PNG nor JPEG, and said to be `{0}`")]
    Kind(String),
    /// It would take too much to decode it.
    #[error("it has more pixels than are decoded: {LONGEST_DECODED_SIDE} a side")]
    TooLarge,
    /// It ends too early, or contradicts itself.
    #[error("it is broken")]
    Broken(#[source] ImageError),
}

impl From<ImageError> for Unusable {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Limits(_) => Self::TooLarge,
            error => Self::Broken(error),
        }
    }
}

impl Picture {
    /// Ending of the name of a file with it.
    pub fn extension(&self) -> &'static str {
        if self.mime_type == ImageFormat::Png.to_mime_type() { "png" } else { "jpg" }
    }
}

/// Whether a file that begins like this is one that can be delivered.
pub fn is_known(beginning: &[u8]) -> bool {
    matches!(image::guess_format(beginning), Ok(ImageFormat::Png | ImageFormat::Jpeg))
}

/// The picture in `data`, made smaller where it has to be. One that is small enough is passed on as it came, and its
/// pixels are not looked at. `stated` is the type that the service gives it.
pub fn deliverable(data: Bytes, stated: &str) -> Result<Picture, Unusable> {
    let Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) = image::guess_format(&data) else {
        return Err(Unusable::Kind(shortened(stated)));
    };
    let (width, height) = reader(&data, format).into_dimensions()?;
    let mime_type = format.to_mime_type();
    if width.max(height) <= LONGEST_SIDE {
        return Ok(Picture { data, mime_type, width, height, original: None });
    }

    let smaller = reader(&data, format).decode()?.resize(LONGEST_SIDE, LONGEST_SIDE, FilterType::Triangle);

    Ok(Picture {
        data: encoded(&smaller, format)?.into(),
        mime_type,
        width: smaller.width(),
        height: smaller.height(),
        original: Some((width, height)),
    })
}

fn reader(data: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let mut reader = ImageReader::with_format(Cursor::new(data), format);
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(LONGEST_DECODED_SIDE);
    limits.max_image_height = Some(LONGEST_DECODED_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);

    reader
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Result<Vec<u8>, ImageError> {
    let mut file = Cursor::new(Vec::new());
    if format == ImageFormat::Jpeg {
        image.write_with_encoder(JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY))?;
    } else {
        image.write_to(&mut file, format)?;
    }

    Ok(file.into_inner())
}

/// A stated type as a text shows it: the service may say anything.
fn shortened(stated: &str) -> String {
    const LONGEST: usize = 40;
    stated.chars().filter(|one| one.is_ascii_graphic() && *one != '`').take(LONGEST).collect()
}

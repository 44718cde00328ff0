//! The schema of a picture in an answer, as callers receive it.

use schemars::JsonSchema;

// `call::reply` fills these fields. No doc comment, because it would become part of the schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct DeliveredPicture {
    /// Position of the image among the images of this reply, starting at 1.
    image: Option<u32>,
    #[schemars(rename = "mimeType")]
    mime_type: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    /// Present if the image was scaled down.
    original_width: Option<u32>,
    original_height: Option<u32>,
    /// Reason if there is no image.
    omitted: Option<String>,
}

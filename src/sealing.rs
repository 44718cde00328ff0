//! Sealed texts: state that a caller keeps and returns unchanged.
//!
//! The content of a sealed text is encrypted and authenticated. No process needs to remember it, and every process with
//! the same key opens it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use serde::{Serialize, de::DeserializeOwned};

/// Longest text that is opened, in bytes. What is sealed is far shorter, so that a longer text is refused before it is decoded.
const MAX_BYTES: usize = 64 << 10;

/// Seals `content` with a key of 32 bytes. Only [`open`] with the same key and the same `bound_to` returns the content.
/// Returns `None` if the key has another length or the content cannot be serialized.
pub(crate) fn seal(key: &[u8], bound_to: &[u8], content: &impl Serialize) -> Option<String> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    let mut encrypted = serde_json::to_vec(content).ok()?;

    let used_nonce = Nonce::assume_unique_for_key(nonce);
    cipher(key)?.seal_in_place_append_tag(used_nonce, Aad::from(bound_to), &mut encrypted).ok()?;

    Some(URL_SAFE_NO_PAD.encode([&nonce[..], &encrypted].concat()))
}

/// Returns the content of a text that [`seal`] returned for the same key and the same `bound_to`; `None` for any other
/// text.
pub(crate) fn open<T: DeserializeOwned>(key: &[u8], bound_to: &[u8], sealed: &str) -> Option<T> {
    if sealed.len() > MAX_BYTES {
        return None;
    }
    let mut bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let (nonce, encrypted) = bytes.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;

    let content = cipher(key)?.open_in_place(nonce, Aad::from(bound_to), encrypted).ok()?;
    serde_json::from_slice(content).ok()
}

fn cipher(key: &[u8]) -> Option<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, key).ok().map(LessSafeKey::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use serde_json::{Value, json};

    use super::*;
    use crate::random_inputs::{check_texts, check_values, text, value};

    const KEY: [u8; 32] = [1; 32];

    #[test]
    fn a_text_opens_only_with_the_key_and_the_data_that_it_is_bound_to() {
        let sealed = seal(&KEY, b"uploads", &json!({"a": 1})).expect("a sealed text");

        assert_eq!(open(&KEY, b"uploads", &sealed), Some(json!({"a": 1})));
        assert_eq!(open::<Value>(&KEY, b"tasks", &sealed), None);
        assert_eq!(open::<Value>(&[2; 32], b"uploads", &sealed), None);
        assert_eq!(seal(b"short", b"uploads", &json!(1)), None);
    }

    #[test]
    fn the_content_cannot_be_read_and_equal_contents_differ() {
        let [one, other] = [(); 2].map(|()| seal(&KEY, b"", &"secret-content").expect("a sealed text"));
        let bytes = URL_SAFE_NO_PAD.decode(&one).expect("Base64");

        assert!(!String::from_utf8_lossy(&bytes).contains("secret"));
        assert_ne!(one, other);
    }

    #[test]
    fn a_text_above_the_limit_is_not_opened() {
        for (length, is_opened) in [(MAX_BYTES / 2, true), (MAX_BYTES, false)] {
            let sealed = seal(&KEY, b"", &"x".repeat(length)).expect("a sealed text");
            assert_eq!(open::<Value>(&KEY, b"", &sealed).is_some(), is_opened, "{length}");
        }
    }

    #[test]
    fn any_content_is_kept() {
        check_values(&value(), 1, |content| {
            let sealed = seal(&KEY, b"", &content).expect("a sealed text");
            assert_eq!(open::<Value>(&KEY, b"", &sealed), Some(content));
        });
    }

    #[test]
    fn any_other_text_is_refused() {
        let sealed = seal(&KEY, b"", &json!({"a": 1})).expect("a sealed text");

        check_texts(&(text(), 0..sealed.len(), any::<u8>()), |(text, position, byte)| {
            assert_eq!(open::<Value>(&KEY, b"", &text), None, "{text:?}");

            let mut forged = sealed.clone().into_bytes();
            forged[position] = byte;
            let forged = String::from_utf8_lossy(&forged);
            assert!(forged == sealed || open::<Value>(&KEY, b"", &forged).is_none(), "{forged}");
        });
    }
}

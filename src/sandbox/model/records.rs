//! Records by id, with their ids and versions.
//!
//! Ids come from a counter or from hashes, so that the same calls give the same ids.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;
use uuid::Builder;

use crate::sandbox::model::saved_test::BugFinding;
use crate::service::api::ReadVersion;

/// Characters of run ids (service.md 1.7).
const DIGITS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Length of real run ids (service.md 1.7).
const RUN_ID_LENGTH: usize = 11;

const OCCURRENCE_LENGTH: usize = 6;

const STEP_LENGTH: usize = 8;

/// Records by id, in the order of their creation.
pub(crate) type Records<T> = IndexMap<String, Arc<T>>;

/// Every version of each record by id, including the current one. The index is the version.
pub(crate) type Versions<T> = BTreeMap<String, Vec<Arc<T>>>;

/// Returns the record with `id`. Letter case is ignored, because UUIDs are equal in either case.
pub(crate) fn find<'a, T>(records: &'a IndexMap<String, T>, id: &str) -> Option<&'a T> {
    records.get(id).or_else(|| records.get(&id.to_ascii_lowercase()))
}

/// Returns a version of the record with `id`, or the current version if `version` is `None`.
pub(crate) fn at_version<'a, T>(
    records: &'a Records<T>,
    versions: &'a Versions<T>,
    id: &str,
    version: Option<ReadVersion>,
) -> Option<&'a Arc<T>> {
    let (id, current) =
        records.get_key_value(id).or_else(|| records.get_key_value(&id.to_ascii_lowercase()))?;
    match version {
        None => Some(current),
        Some(version) => versions.get(id)?.get(usize::try_from(version.0).ok()?),
    }
}

#[derive(Debug, Default)]
pub(crate) struct IdSource {
    count: u64,
}

impl IdSource {
    pub(crate) fn uuid(&mut self) -> String {
        let bytes = (u128::from(self.next()) << 64) | u128::from(self.next());
        Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid().to_string()
    }

    pub(crate) fn run(&mut self) -> String {
        letters(self.next(), RUN_ID_LENGTH)
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        mix(self.count)
    }
}

/// Returns the run id of a retry of the job whose first run is `first`.
pub(super) fn later_run_id(first: &str, attempt: usize) -> String {
    letters(hash(&[first, &attempt.to_string()]), RUN_ID_LENGTH)
}

pub(crate) fn occurrence_id(run: &str, finding: &BugFinding) -> String {
    let BugFinding { bug, player, step, turn } = finding;
    let position = format!("{player} {step} {turn}");
    format!("occ_{}", letters(hash(&[run, bug, &position]), OCCURRENCE_LENGTH))
}

pub(crate) fn step_id(words: &[&str]) -> String {
    format!("step_{}", letters(hash(words), STEP_LENGTH))
}

pub(crate) fn etag(words: &[&str]) -> String {
    format!("\"{:016x}{:016x}\"", hash(words), hash(&[&words.concat(), "etag"]))
}

/// Returns a number that depends only on `words`.
pub(crate) fn hash(words: &[&str]) -> u64 {
    mix(continued_hash(HASH_START, words.iter().flat_map(|word| word.bytes().chain([0]))))
}

pub(crate) const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the hash of the bytes of `hash` and these. FNV-1a gives the same value on every platform, unlike the hasher of the
/// standard library.
pub(crate) fn continued_hash(hash: u64, bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Distributes consecutive numbers over the whole range (splitmix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn letters(mut number: u64, length: usize) -> String {
    let base = DIGITS.len() as u64;
    let mut text = String::with_capacity(length);

    for _ in 0..length {
        let digit = usize::try_from(number % base).ok().and_then(|digit| DIGITS.get(digit));
        text.push(char::from(digit.copied().unwrap_or(b'a')));
        number /= base;
    }

    text
}

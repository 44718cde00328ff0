//! PNG files that are small, and large once they are decoded; or the other way around.

/// Beginning of every PNG file.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Bytes of one pixel: red, green, blue and opacity.
const PIXEL: u64 = 4;

/// Zero bytes that one match of the compressed data stands for.
const MATCH: u64 = 258;

/// Returns a transparent image of `side` x `side` pixels, with `padding` bytes in a chunk that says nothing.
pub(super) fn transparent_square(side: u32, padding: usize) -> Vec<u8> {
    let sides = [side.to_be_bytes(), side.to_be_bytes()].concat();
    // Eight bits a channel, four channels, no interlacing.
    let header = [&sides[..], &[8, 6, 0, 0, 0]].concat();
    // Each row begins with the number of its filter.
    let length = u64::from(side) * (u64::from(side) * PIXEL + 1);

    [
        SIGNATURE.to_vec(),
        chunk(*b"IHDR", &header),
        chunk(*b"juNk", &vec![0; padding]),
        chunk(*b"IDAT", &compressed_zeros(length)),
        chunk(*b"IEND", &[]),
    ]
    .concat()
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("a short chunk").to_be_bytes();
    let checksum = checksum(&[&name[..], data].concat()).to_be_bytes();
    [&length[..], &name, data, &checksum].concat()
}

/// Returns `length` zero bytes in the format of zlib (RFC 1950): one block with fixed codes (RFC 1951, 3.2.6).
fn compressed_zeros(length: u64) -> Vec<u8> {
    let mut bits = BitWriter::default();
    // The last block, fixed codes.
    bits.write("110");

    // The literal 0 has the code of eight bits 00110000. A match repeats it: length 258, distance 1.
    let (matches, literals) = ((length - 1) / MATCH, (length - 1) % MATCH + 1);
    for _ in 0..literals {
        bits.write("00110000");
    }
    for _ in 0..matches {
        bits.write("1100010100000");
    }
    bits.write("0000000");

    // The checksum Adler-32 of zero bytes: the sum of the bytes is 1 throughout.
    let adler = (u32::try_from(length % 65_521).expect("a small number") << 16) | 1;

    [&[0x78, 0x01], &bits.finish()[..], &adler.to_be_bytes()].concat()
}

/// Packs bits into bytes, the least significant bit first.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    count: usize,
}

impl BitWriter {
    fn write(&mut self, bits: &str) {
        for bit in bits.bytes() {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= (bit - b'0') << (self.count % 8);
            }
            self.count += 1;
        }
    }

    fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns the checksum CRC-32 of a chunk.
fn checksum(data: &[u8]) -> u32 {
    let table = checksum_table();
    let checksum = data.iter().fold(u32::MAX, |sum, byte| {
        let [lowest, ..] = sum.to_le_bytes();
        table[usize::from(lowest ^ byte)] ^ (sum >> 8)
    });

    !checksum
}

/// Returns the checksum of each single byte.
fn checksum_table() -> Vec<u32> {
    let of_byte = |byte: u8| {
        (0..8).fold(u32::from(byte), |sum, _| if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 })
    };

    (0..=u8::MAX).map(of_byte).collect()
}

#[test]
fn the_images_are_valid() {
    for (side, padding) in [(1, 0), (10, 5), (300, 0)] {
        let image = image::load_from_memory(&transparent_square(side, padding)).expect("an image");
        assert_eq!((image.width(), image.height()), (side, side));
    }
}

//! Pictures in PNG form, of one colour: enough to be one.

/// A picture of that size; each byte of `colour` is red, green, blue.
pub(super) fn picture(width: u16, height: u16, colour: [u8; 3]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = [u32::from(width).to_be_bytes(), u32::from(height).to_be_bytes()].concat();
    // Eight bits a sample, red, green and blue, no interlacing.
    head.extend([8, 2, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &head);

    let line: Vec<u8> = std::iter::once(0).chain(colour.repeat(usize::from(width))).collect();
    chunk(&mut file, *b"IDAT", &stored(&line.repeat(usize::from(height))));
    chunk(&mut file, *b"IEND", &[]);

    file
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let body = [&kind[..], data].concat();
    file.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    file.extend(&body);
    file.extend(crc32(&body).to_be_bytes());
}

/// The data in zlib form (RFC 1950), not compressed.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks: Vec<_> = data.chunks(usize::from(u16::MAX)).collect();

    for (index, block) in blocks.iter().enumerate() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.push(u8::from(index + 1 == blocks.len()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(*block);
    }

    stream.extend(adler32(data).to_be_bytes());

    stream
}

fn crc32(data: &[u8]) -> u32 {
    let shifted = |sum: u32| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
    let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shifted(sum));
    !data.iter().fold(u32::MAX, byte)
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    (high << 16) | low
}

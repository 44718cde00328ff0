//! Patterns of file names: `*` and `?` stay within a directory, `**` does not.

/// What a part of a pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Letter(char),
    /// One character.
    One,
    /// Any characters of a name.
    Name,
    /// Any characters.
    Anything,
    /// Any directories, or none.
    Directories,
}

/// Whether a name, with its directories, is one that the pattern means. A pattern without `/` is about the last segment.
pub(super) fn is_match(pattern: &str, name: &str) -> bool {
    let name = if pattern.contains('/') { name } else { name.rsplit('/').next().unwrap_or(name) };
    let name: Vec<char> = name.chars().collect();
    // Which beginnings of the name the pattern so far can be, by their lengths.
    let mut reached = vec![false; name.len() + 1];

    if let Some(start) = reached.first_mut() {
        *start = true;
    }

    for piece in pieces(pattern) {
        reached = step(piece, &reached, &name);
    }

    reached.last().copied().unwrap_or_default()
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let (mut rest, mut pieces) = (pattern.trim_start_matches('/'), Vec::new());
    while let Some(first) = rest.chars().next() {
        let (piece, length) = match first {
            '*' if rest.starts_with("**/") => (Piece::Directories, 3),
            '*' if rest.starts_with("**") => (Piece::Anything, 2),
            '*' => (Piece::Name, 1),
            '?' => (Piece::One, 1),
            letter => (Piece::Letter(letter), letter.len_utf8()),
        };
        pieces.push(piece);
        rest = rest.get(length..).unwrap_or_default();
    }

    pieces
}

fn step(piece: Piece, reached: &[bool], name: &[char]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    // Whether an earlier place is still open to a piece of any length.
    let mut is_open = false;

    for (place, is_reached) in reached.iter().enumerate() {
        let letter = name.get(place).copied();
        let before = place.checked_sub(1).and_then(|before| name.get(before)).copied();
        is_open = *is_reached || (is_open && (piece != Piece::Name || before != Some('/')));

        let ends_here = match piece {
            Piece::Name | Piece::Anything => is_open,
            Piece::Directories => *is_reached || (is_open && before == Some('/')),
            Piece::Letter(_) | Piece::One => false,
        };

        if let Some(one) = next.get_mut(place) {
            *one |= ends_here;
        }

        let goes_on = match piece {
            Piece::Letter(wanted) => letter == Some(wanted),
            Piece::One => letter.is_some_and(|letter| letter != '/'),
            Piece::Name | Piece::Anything | Piece::Directories => false,
        };

        if *is_reached
            && goes_on
            && let Some(one) = next.get_mut(place + 1)
        {
            *one = true;
        }
    }

    next
}

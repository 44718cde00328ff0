//! Characters after which an invisible character belongs to the text: emoji, and letters of joining scripts.

/// Returns whether a zero-width joiner is meaningful after `character`.
pub(super) fn is_joined_to_next(character: char) -> bool {
    is_emoji(character) || is_emoji_part(character) || is_joining_letter(character)
}

/// Returns whether a zero-width joiner is meaningful before `character`. No part of an emoji follows a joiner.
pub(super) fn is_joined_to_previous(character: char) -> bool {
    is_emoji(character) || is_joining_letter(character)
}

/// Returns whether a variation selector after `character` changes how it looks. `next` follows the selector.
pub(super) fn needs_selector(character: char, next: Option<char>) -> bool {
    // A digit with the selector and an enclosing keycap is one emoji.
    let is_keycap = matches!(character, '0'..='9' | '#' | '*') && next == Some('\u{20E3}');
    is_emoji(character) || is_keycap
}

/// Returns whether `character` may be an emoji. The blocks contain some other symbols, where a selector does no harm.
fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}'
        | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Returns whether `character` occurs inside emoji that are joined.
fn is_emoji_part(character: char) -> bool {
    matches!(character, '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}')
}

/// Returns whether `character` belongs to a script in which joiners change the form of letters: Arabic, Syriac, N'Ko,
/// the scripts of India, Sinhala, Myanmar, Khmer and Mongolian.
fn is_joining_letter(character: char) -> bool {
    matches!(character,
        '\u{0600}'..='\u{07FF}' | '\u{0840}'..='\u{0DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}'
        | '\u{A840}'..='\u{A87F}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

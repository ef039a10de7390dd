//! Packing of numbers into as few bits as their ranges need.
//!
//! Hand-written: the widths of the fields of a state are known only at run time, and this is the
//! hottest loop of the program.

use fencepost_ir::Value;
use fencepost_ir::range::Range;

/// The low half of a number.
const LOW: u64 = u32::MAX as u64;

/// The fields of a count: each but the last has one value that stands for "more".
const COUNT_FIELDS: [Field; 3] = [Field::new(0, 3), Field::new(0, 15), Field::new(0, 0xff_ffff)];

/// The packed form of a number with a known range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    min: Value,
    span: u64,
    bits: u32,
}

impl Field {
    /// Returns a field for the values of a range, both ends included.
    pub fn for_range((min, max): Range) -> Field {
        Field::new(min, max.wrapping_sub(min) as u64)
    }

    /// Returns a field for the values from `min` to `min + span`.
    pub const fn new(min: Value, span: u64) -> Field {
        Field { min, span, bits: u64::BITS - span.leading_zeros() }
    }

    /// Returns a field for the numbers below `count` (at least 1).
    pub fn for_count(count: usize) -> Field {
        Field::for_range((0, count.max(1) as Value - 1))
    }

    /// Returns whether the field can hold a value.
    pub fn holds(self, value: Value) -> bool {
        value.wrapping_sub(self.min) as u64 <= self.span
    }

    /// Returns the smallest value, and the difference between the largest and the smallest one.
    pub fn range(self) -> (Value, u64) {
        (self.min, self.span)
    }

    /// Returns the width in bits.
    pub fn bits(self) -> u32 {
        self.bits
    }
}

/// The number of bytes that follow a byte string that is read in words.
pub const PADDING: usize = 32;

/// The position of a field in a byte string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    byte: u32,
    shift: u32,
    mask: u64,
}

impl Place {
    /// A place of no bits.
    pub const NOTHING: Place = Place { byte: 0, shift: 0, mask: 0 };

    /// Returns the place of a field that begins at a bit. `None` for the widest fields.
    pub fn new(field: Field, bit: usize) -> Option<Place> {
        let place = Place {
            byte: (bit / 8) as u32,
            shift: (bit % 8) as u32,
            mask: 1u64.checked_shl(field.bits)?.wrapping_sub(1),
        };
        (place.shift + field.bits <= 64).then_some(place)
    }

    /// Returns a byte string with a value at the place and zeros elsewhere: the number of its first
    /// word of eight bytes that is not zero, this word, and the next one.
    pub(crate) fn words(self, value: u64) -> (usize, u64, u64) {
        let bit = 8 * (self.byte % 8) + self.shift;
        let low = u128::from(value) << bit;
        (self.byte as usize / 8, low as u64, (low >> 64) as u64)
    }

    /// Returns the number of packed values that the place can have, or the largest number.
    pub(crate) fn values(self) -> u64 {
        self.mask.saturating_add(1)
    }

    /// Writes a packed value at the place. At least eight bytes follow its first byte.
    #[inline(always)]
    pub(crate) fn write(self, bytes: &mut [u8], value: u64) {
        let eight = bytes[self.byte as usize..].first_chunk_mut::<8>();
        let eight = eight.expect("padding follows packed fields");
        let word = u64::from_le_bytes(*eight) & !(self.mask << self.shift);
        *eight = (word | value << self.shift).to_le_bytes();
    }

    /// Returns the packed value at the place. [Padding](PADDING) follows the byte string.
    #[inline]
    pub fn read(self, bytes: &[u8]) -> u64 {
        let eight = bytes[self.byte as usize..].first_chunk::<8>();
        u64::from_le_bytes(*eight.expect("padding follows packed fields")) >> self.shift & self.mask
    }
}

/// Copies `len` bytes, and more up to the end of a block. Both slices have [`PADDING`] more bytes.
#[inline(always)]
fn copy_blocks(to: &mut [u8], from: &[u8], len: usize) {
    to[..PADDING].copy_from_slice(&from[..PADDING]);
    if len > PADDING {
        to[PADDING..len].copy_from_slice(&from[PADDING..len]);
    }
}

/// A writer that appends fields to a byte string.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// The allocation; only the first `len` bytes are in use.
    bytes: Vec<u8>,
    /// The number of complete bytes.
    len: usize,
    word: u64,
    used: u32,
}

impl Writer {
    /// Starts a new byte string and reuses the allocation.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.word = 0;
        self.used = 0;
    }

    /// Appends a value.
    ///
    /// # Panics
    /// Panics if the value is outside the field's range. Then the range analysis is wrong, and
    /// different states could get the same packed form.
    #[inline(always)]
    pub fn put(&mut self, field: Field, value: Value) {
        let offset = value.wrapping_sub(field.min) as u64;
        assert!(offset <= field.span, "a packed value is within its computed range");
        if field.bits <= 32 {
            self.put_bits(offset, field.bits);
        } else {
            self.put_wide(offset, field.bits);
        }
    }

    /// Appends a number that is usually small and has no bound that is known in advance.
    #[inline]
    pub fn put_count(&mut self, mut count: usize) {
        for field in COUNT_FIELDS {
            let more = field.span as usize;
            self.put(field, count.min(more) as Value);
            if count < more {
                return;
            }
            count -= more;
        }
        panic!("a count is too large to be packed");
    }

    /// Appends more than 32 bits. Not inlined: few fields are that wide.
    #[cold]
    fn put_wide(&mut self, offset: u64, bits: u32) {
        self.put_bits(offset & LOW, 32);
        self.put_bits(offset >> 32, bits - 32);
    }

    /// Appends at most 32 bits.
    #[inline(always)]
    fn put_bits(&mut self, offset: u64, bits: u32) {
        self.word |= offset << self.used;
        self.used += bits;
        if self.used >= 32 {
            self.spill();
            self.len += 4;
            self.word >>= 32;
            self.used -= 32;
        }
    }

    /// Writes the current word after the complete bytes, without advancing.
    #[inline]
    fn spill(&mut self) {
        if self.len + 8 > self.bytes.len() {
            self.grow(8);
        }
        self.bytes[self.len..self.len + 8].copy_from_slice(&self.word.to_le_bytes());
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        self.bytes.resize((self.len + more).max(64) * 2, 0);
    }

    /// Ends a segment: the next field starts at a byte boundary.
    #[inline]
    pub fn align(&mut self) {
        self.spill();
        self.len += self.used.div_ceil(8) as usize;
        self.word = 0;
        self.used = 0;
    }

    /// Appends packed segments.
    #[inline]
    pub fn copy(&mut self, segments: &[u8]) {
        debug_assert_eq!(self.used, 0, "segments are copied at a byte boundary");
        let end = self.len + segments.len();
        if end > self.bytes.len() {
            self.grow(segments.len());
        }
        self.bytes[self.len..end].copy_from_slice(segments);
        self.len = end;
    }

    /// Starts a byte string that is a copy of `base`, except that other bytes replace those from
    /// `from` to `to`: the first `len` bytes of a word, or any bytes if `len` is above eight.
    /// [Padding](PADDING) follows the bytes of `base`, so they are copied in blocks. A call of `memcpy`
    /// costs more than a block.
    #[inline(always)]
    pub fn splice(&mut self, base: &[u8], (from, to): (usize, usize), (word, len): (u64, usize)) {
        let rest = base.len() - PADDING - to;
        if from + len + rest + 2 * PADDING > self.bytes.len() {
            self.grow(from + len + rest + 2 * PADDING);
        }
        let bytes = &mut self.bytes[..];
        copy_blocks(bytes, &base[..from + PADDING], from);
        bytes[from..from + 8].copy_from_slice(&word.to_le_bytes());
        copy_blocks(&mut bytes[from + len..], &base[to..], rest);
        (self.len, self.word, self.used) = (from + len + rest, 0, 0);
    }

    /// Replaces bytes.
    pub fn overwrite(&mut self, from: usize, bytes: &[u8]) {
        self.bytes[from..from + bytes.len()].copy_from_slice(bytes);
    }

    /// Appends padding after the last segment.
    pub fn pad(&mut self) {
        self.copy(&[0; PADDING]);
    }

    /// Reserves space for padding behind the byte string.
    #[inline]
    pub fn pad_behind(&mut self) {
        let len = self.len;
        self.pad();
        self.len = len;
    }

    /// Returns the byte string with padding behind it.
    #[inline]
    pub fn padded(&mut self) -> &[u8] {
        self.pad_behind();
        &self.bytes[..self.len + PADDING]
    }

    /// Starts a byte string that is a copy of `base`, which has [padding](PADDING).
    #[inline(always)]
    pub fn copy_padded(&mut self, base: &[u8]) {
        if base.len() > self.bytes.len() {
            self.grow(base.len());
        }
        let len = base.len() - PADDING;
        copy_blocks(&mut self.bytes, base, len);
        (self.len, self.word, self.used) = (len, 0, 0);
    }

    /// Changes the packed value at a place. Space for padding is reserved.
    #[inline]
    pub fn patch(&mut self, place: Place, value: u64) {
        place.write(&mut self.bytes, value);
    }

    /// Returns all allocated bytes.
    #[inline]
    pub(crate) fn allocated(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Returns the byte string. The last segment must be ended.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A reader that returns the fields of a byte string in the order in which they were written.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// The position of the next byte to load.
    at: usize,
    word: u64,
    available: u32,
}

impl<'a> Reader<'a> {
    /// Starts reading at the first field.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, word: 0, available: 0 }
    }

    /// Returns the next value.
    #[inline(always)]
    pub fn get(&mut self, field: Field) -> Value {
        let offset =
            if field.bits <= 32 { self.get_bits(field.bits) } else { self.get_wide(field.bits) };
        field.min.wrapping_add(offset as Value)
    }

    /// Returns the next number written with [`Writer::put_count`].
    #[inline]
    pub fn get_count(&mut self) -> usize {
        let mut count = 0;
        for field in COUNT_FIELDS {
            let part = self.get(field) as usize;
            count += part;
            if part < field.span as usize {
                break;
            }
        }
        count
    }

    /// Returns the next bits, more than 32. Not inlined: few fields are that wide.
    #[cold]
    fn get_wide(&mut self, bits: u32) -> u64 {
        self.get_bits(32) | self.get_bits(bits - 32) << 32
    }

    /// Returns the next bits, at most 32.
    #[inline(always)]
    fn get_bits(&mut self, bits: u32) -> u64 {
        if self.available < bits {
            self.refill();
        }
        let offset = self.word & ((1u64 << bits) - 1);
        self.word >>= bits;
        self.available -= bits;
        offset
    }

    /// Ends a segment, like [`Writer::align`]. Returns the position of the next segment.
    #[inline]
    pub fn align(&mut self) -> usize {
        self.at -= (self.available / 8) as usize;
        self.word = 0;
        self.available = 0;
        self.at
    }

    #[inline]
    fn refill(&mut self) {
        if let Some(four) = self.bytes[self.at..].first_chunk::<4>() {
            self.word |= u64::from(u32::from_le_bytes(*four)) << self.available;
            self.available += 32;
            self.at += 4;
            return;
        }
        for byte in &self.bytes[self.at..] {
            self.word |= u64::from(*byte) << self.available;
            self.available += 8;
        }
        self.at = self.bytes.len();
    }
}

/// A reader of the fields that determine the length of a segment. [Padding](PADDING) follows the byte
/// string, so that every read is one word.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    bit: usize,
}

impl<'a> BitReader<'a> {
    /// Starts reading at a bit.
    #[inline]
    pub fn new(bytes: &'a [u8], bit: usize) -> Self {
        BitReader { bytes, bit }
    }

    /// Returns the position of the next field.
    #[inline]
    pub fn bit(&self) -> usize {
        self.bit
    }

    /// Skips a field.
    #[inline]
    pub fn skip(&mut self, field: Field) {
        self.bit += field.bits as usize;
    }

    /// Returns the next number of a field for a count ([`Field::for_count`]) of at most 32 bits.
    #[inline]
    pub fn get(&mut self, field: Field) -> usize {
        let eight = self.bytes[self.bit / 8..].first_chunk::<8>();
        let word = u64::from_le_bytes(*eight.expect("padding follows packed segments"));
        let value = word >> (self.bit % 8) & ((1 << field.bits) - 1);
        self.bit += field.bits as usize;
        value as usize
    }

    /// Returns the next number written with [`Writer::put_count`].
    #[inline]
    pub fn get_count(&mut self) -> usize {
        let mut count = 0;
        for field in COUNT_FIELDS {
            let part = self.get(field);
            count += part;
            if part < field.span as usize {
                break;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_counts_unpack_unchanged() {
        let counts = [0, 1, 2, 3, 4, 17, 18, 19, 100, 4096, 1 << 20];
        let mut writer = Writer::default();
        for count in counts {
            writer.put_count(count);
        }
        writer.align();
        let mut reader = Reader::new(writer.bytes());
        for count in counts {
            assert_eq!(reader.get_count(), count);
        }
    }

    #[test]
    fn packed_values_unpack_unchanged() {
        let ranges =
            [(0, 0), (0, 1), (-3, 4), (5, 5), (0, 255), (Value::MIN, Value::MAX), (-1, 1 << 40)];
        let mut seed = 1u32;
        let mut writer = Writer::default();
        for len in 0..60 {
            let mut put = Vec::new();
            writer.clear();
            for _ in 0..len {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let range: (Value, Value) = ranges[(seed >> 16) as usize % ranges.len()];
                let span = i128::from(range.1) - i128::from(range.0) + 1;
                let large = i128::from(seed) << (seed % 40);
                let value = (i128::from(range.0) + large % span) as Value;
                let field = Field::for_range(range);
                writer.put(field, value);
                put.push((field, value));
            }
            let bits: u32 = put.iter().map(|(f, _)| f.bits()).sum();
            writer.align();
            let bytes = writer.bytes().to_vec();
            assert_eq!(bytes.len(), bits.div_ceil(8) as usize);
            let mut reader = Reader::new(&bytes);
            for (field, value) in put {
                assert_eq!(reader.get(field), value);
            }
        }
    }

    #[test]
    fn segments_start_at_byte_boundaries() {
        let (small, large) = (Field::for_count(3), Field::for_range((0, i32::MAX.into())));
        let mut writer = Writer::default();
        writer.put(small, 2);
        writer.align();
        writer.put(large, 77);
        writer.put(small, 1);
        writer.align();
        writer.put(small, 2);
        writer.align();
        let bytes = writer.bytes().to_vec();
        assert_eq!(bytes.len(), 1 + 5 + 1);
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.get(small), reader.align()), (2, 1));
        assert_eq!((reader.get(large), reader.get(small), reader.align()), (77, 1, 6));
        assert_eq!((reader.get(small), reader.align()), (2, 7));
        let mut again = Writer::default();
        again.copy(&bytes[..6]);
        again.put(small, 2);
        again.align();
        assert_eq!(again.bytes(), bytes);
    }

    #[test]
    #[should_panic(expected = "within its computed range")]
    fn a_value_outside_its_range_is_never_packed() {
        Writer::default().put(Field::for_range((0, 3)), 4);
    }
}

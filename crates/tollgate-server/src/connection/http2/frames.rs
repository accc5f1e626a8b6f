//! The heads of HTTP/2 frames in a stream of bytes (RFC 9113, 4.1): what they are, without a look at what they carry.

/// Length of a frame's head.
const HEAD: usize = 9;

/// The first bytes of a frame's payload that are kept: enough for GOAWAY's error code.
const KEPT: usize = 8;

/// Kinds of frames.
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const CONTINUATION: u8 = 9;
}

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A frame's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) kind: u8,
    flags: u8,
    pub(super) stream: u32,
}

impl Head {
    fn of(bytes: [u8; HEAD]) -> Head {
        let [a, b, c, kind, flags, s0, s1, s2, s3] = bytes;
        Head {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & (u32::MAX >> 1),
        }
    }

    /// It is the last of its stream in its direction.
    pub(super) fn ends_stream(self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.flags & END_STREAM != 0
    }

    /// It belongs to a block of fields, which it ends (`true`) or not.
    pub(super) fn ends_fields(self) -> Option<bool> {
        matches!(self.kind, kind::HEADERS | kind::CONTINUATION)
            .then_some(self.flags & END_HEADERS != 0)
    }
}

/// What a piece of the stream brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A frame began.
    Began(Head),
    /// A frame is whole; the first bytes that it carried, zeros where it carried fewer.
    Ended(Head, [u8; KEPT]),
}

/// Reads heads wherever the pieces are cut.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// Bytes of the preface that are to come before the first frame.
    preface: usize,
    head: [u8; HEAD],
    /// How many bytes of the head came.
    filled: usize,
    frame: Option<Head>,
    /// How many bytes of the payload are to come.
    left: usize,
    kept: [u8; KEPT],
    kept_length: usize,
}

impl Scanner {
    /// A scanner of what comes after `preface` bytes of another kind.
    pub(super) fn new(preface: usize) -> Scanner {
        Scanner {
            preface,
            head: [0; HEAD],
            filled: 0,
            frame: None,
            left: 0,
            kept: [0; KEPT],
            kept_length: 0,
        }
    }

    /// No frame is half through.
    pub(super) fn is_between_frames(&self) -> bool {
        self.filled == 0 && self.frame.is_none() && self.preface == 0
    }

    /// Reads on; `tell` hears of what came.
    pub(super) fn read(&mut self, mut bytes: &[u8], mut tell: impl FnMut(Event)) {
        let before = self.preface.min(bytes.len());
        self.preface -= before;
        bytes = &bytes[before..];
        while !bytes.is_empty() {
            bytes = match self.frame {
                None => self.read_head(bytes, &mut tell),
                Some(head) => self.read_payload(head, bytes, &mut tell),
            };
        }
    }

    fn read_head<'b>(&mut self, bytes: &'b [u8], tell: &mut impl FnMut(Event)) -> &'b [u8] {
        let (part, rest) = bytes.split_at(bytes.len().min(HEAD - self.filled));
        self.head[self.filled..self.filled + part.len()].copy_from_slice(part);
        self.filled += part.len();
        if self.filled == HEAD {
            let head = Head::of(self.head);
            (self.filled, self.left) = (0, head.length);
            (self.kept, self.kept_length) = ([0; KEPT], 0);
            tell(Event::Began(head));
            self.frame = Some(head);
            self.end_if_whole(head, tell);
        }
        rest
    }

    fn read_payload<'b>(
        &mut self,
        head: Head,
        bytes: &'b [u8],
        tell: &mut impl FnMut(Event),
    ) -> &'b [u8] {
        let (part, rest) = bytes.split_at(bytes.len().min(self.left));
        let keep = part.len().min(KEPT - self.kept_length);
        self.kept[self.kept_length..self.kept_length + keep].copy_from_slice(&part[..keep]);
        self.kept_length += keep;
        self.left -= part.len();
        self.end_if_whole(head, tell);
        rest
    }

    fn end_if_whole(&mut self, head: Head, tell: &mut impl FnMut(Event)) {
        if self.left == 0 {
            self.frame = None;
            tell(Event::Ended(head, self.kept));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend((stream | 1 << 31).to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    fn events(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<Event> {
        let (mut scanner, mut all) = (Scanner::new(3), Vec::new());
        for piece in pieces {
            scanner.read(&piece, |event| all.push(event));
        }
        assert!(scanner.is_between_frames());
        all
    }

    #[test]
    fn frames_are_found_wherever_the_pieces_are_cut() {
        let mut bytes = b"PRI".to_vec();
        bytes.extend(frame(kind::HEADERS, END_STREAM | END_HEADERS, 3, b"fields"));
        bytes.extend(frame(4, 0, 0, b""));
        bytes.extend(frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 11, b'x']));
        let whole = events(std::iter::once(bytes.clone()));
        let Event::Began(first) = whole[0] else { panic!("{whole:?}") };
        assert_eq!((first.kind, first.length, first.stream), (kind::HEADERS, 6, 3));
        assert_eq!((first.ends_stream(), first.ends_fields()), (true, Some(true)));
        let Some(Event::Ended(last, kept)) = whole.last() else { panic!("{whole:?}") };
        assert_eq!((last.kind, *kept), (kind::GOAWAY, [0, 0, 0, 3, 0, 0, 0, 11]));
        assert_eq!(whole.len(), 6);
        for size in 1..bytes.len() {
            assert_eq!(events(bytes.chunks(size).map(<[u8]>::to_vec)), whole, "{size}");
        }
    }

    #[test]
    fn the_middle_of_a_frame_is_known() {
        let mut scanner = Scanner::new(0);
        let bytes = frame(kind::DATA, 0, 1, b"abc");
        scanner.read(&bytes[..4], |_| {});
        assert!(!scanner.is_between_frames());
        scanner.read(&bytes[4..11], |_| {});
        assert!(!scanner.is_between_frames());
        scanner.read(&bytes[11..], |_| {});
        assert!(scanner.is_between_frames());
    }
}

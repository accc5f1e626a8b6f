//! How an address is counted: unwrapped, then cut to its prefix.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::ClientAddress;

/// RFC 6052's well-known prefix: `64:ff9b::/96`.
const NAT64: u128 = 0x0064_ff9b << 96;

impl ClientAddress {
    /// The address that `client` counts as: IPv4 within IPv6 is unwrapped (mapped ones always, `64:ff9b::/96` with
    /// `nat64`), and IPv6 is cut to the prefix. It goes by the bits; how the address was spelt has no influence.
    #[must_use]
    pub fn counted(&self, client: IpAddr) -> IpAddr {
        match client.to_canonical() {
            IpAddr::V4(four) => IpAddr::V4(four),
            IpAddr::V6(six) => self.cut(six),
        }
    }

    fn cut(&self, six: Ipv6Addr) -> IpAddr {
        let bits = six.to_bits();
        if self.nat64 && bits & !u128::from(u32::MAX) == NAT64 {
            return IpAddr::V4(Ipv4Addr::from_bits(bits as u32));
        }
        let host = 128 - u32::from(self.ipv6_prefix.min(128));
        let mask = u128::MAX.checked_shl(host).unwrap_or(0);
        IpAddr::V6(Ipv6Addr::from_bits(bits & mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(prefix: u8, nat64: bool, text: &str) -> String {
        let settings = ClientAddress { ipv6_prefix: prefix, nat64, ..ClientAddress::default() };
        settings.counted(text.parse().expect("an address")).to_string()
    }

    #[test]
    fn v6_02_mapped_addresses_go_by_bits_not_by_spelling() {
        assert_eq!(counted(56, false, "::ffff:198.51.100.23"), "198.51.100.23");
        assert_eq!(counted(56, false, "::ffff:c633:6417"), "198.51.100.23");
        assert_eq!(counted(56, false, "2001:db8:77:88ff::198.51.100.23"), "2001:db8:77:8800::");
        assert_eq!(counted(56, false, "2001:db8:77:88ff::c633:6417"), "2001:db8:77:8800::");
    }

    #[test]
    fn v6_05_nat64_is_unwrapped_where_the_policy_says_so() {
        assert_eq!(counted(64, true, "64:ff9b::c000:201"), "192.0.2.1");
        assert_eq!(counted(64, true, "64:ff9b::c000:202"), "192.0.2.2");
        assert_eq!(counted(64, false, "64:ff9b::c000:201"), "64:ff9b::");
        assert_eq!(counted(64, false, "64:ff9b::c000:202"), "64:ff9b::");
        // The local-use prefix 64:ff9b:1::/48 is not the well-known one.
        assert_eq!(counted(64, true, "64:ff9b:1::c000:201"), "64:ff9b:1::");
    }

    #[test]
    fn v6_07_spellings_of_one_address_are_one() {
        for text in ["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8::0001"] {
            assert_eq!(counted(128, false, text), "2001:db8::1");
        }
    }

    #[test]
    fn prefixes_at_the_ends_of_the_range() {
        assert_eq!(counted(0, false, "2001:db8::1"), "::");
        assert_eq!(counted(32, false, "2001:db8:ffff::1"), "2001:db8::");
        assert_eq!(counted(128, false, "2001:db8::1"), "2001:db8::1");
    }
}

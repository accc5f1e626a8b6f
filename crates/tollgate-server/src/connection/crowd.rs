//! Connections by address, over all threads of a gateway.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

/// How many connections each address has. There are never more addresses than connections.
#[derive(Debug, Default)]
pub(crate) struct Crowd(Mutex<HashMap<IpAddr, usize>>);

/// One connection of an address, until it is dropped.
#[derive(Debug)]
pub(crate) struct Member {
    crowd: Arc<Crowd>,
    address: IpAddr,
}

impl Crowd {
    /// Counts one more connection of `address`, unless it has `most`.
    pub(crate) fn join(self: &Arc<Crowd>, address: IpAddr, most: usize) -> Option<Member> {
        let mut counts = self.0.lock();
        let count = counts.entry(address).or_default();
        if *count >= most {
            if *count == 0 {
                counts.remove(&address);
            }
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Member { crowd: Arc::clone(self), address })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut counts = self.crowd.0.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_so_many_and_none_is_remembered() {
        let crowd = Arc::new(Crowd::default());
        let (one, two) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = crowd.join(one, 2);
        let second = crowd.join(one, 2);
        assert!(first.is_some() && second.is_some());
        assert!(crowd.join(one, 2).is_none());
        let other = crowd.join(two, 2);
        assert!(other.is_some());
        drop(second);
        assert!(crowd.join(one, 2).is_some());
        drop((first, other));
        assert!(crowd.0.lock().is_empty());
        assert!(crowd.join(one, 0).is_none() && crowd.0.lock().is_empty());
    }
}

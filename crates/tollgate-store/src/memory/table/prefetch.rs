//! Asking for memory before it is needed. The only unsafe code of the workspace: see `docs/decisions/012-prefetch.md`.
#![allow(
    unsafe_code,
    reason = "no safe way to an instruction without which a batch waits for each line in turn"
)]

use super::line::Line;

/// Has a line on its way to the nearest cache while other things are done. Changes nothing but the time it takes.
#[inline(always)]
pub(super) fn prefetch(line: &Line) {
    let address = std::ptr::from_ref(line);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing into the program and faults at no address; SSE, which has it, is part of x86_64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the same; the instruction is in every AArch64 and touches neither registers, flags nor the stack.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A Rust program with gnomon inside. It calls gnomon's functions, without the macros of
// the headers. Its threads have signal stacks of Rust; guards end scopes; panics unwind
// through them.
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::os::raw::c_char;
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering};

#[repr(C)]
struct Region {
    mask: AtomicU32,
    struct_size: u16,
    abi: u8,
    kind: u8,
    id: u32,
    line: u32,
    name: *const c_char,
    category: *const c_char,
    file: *const c_char,
    function: *const c_char,
    link: UnsafeCell<*mut c_void>,
}
unsafe impl Sync for Region {}

extern "C" {
    static gnomon_enabled: AtomicU32;
    fn gnomon_begin_slow(region: *const Region, mask: u32) -> u64;
    fn gnomon_end_slow(token: u64);
    fn gnomon_start_n_slow(name: *const u8, length: usize);
    fn gnomon_stop_n_slow(name: *const u8, length: usize);
}

const fn region(name: &'static [u8]) -> Region {
    Region {
        mask: AtomicU32::new(0x8000_0000),
        struct_size: std::mem::size_of::<Region>() as u16,
        abi: 2,
        kind: 0,
        id: 0,
        line: 0,
        name: name.as_ptr() as *const c_char,
        category: null(),
        file: null(),
        function: null(),
        link: UnsafeCell::new(std::ptr::null_mut()),
    }
}

struct Scope(u64);

impl Scope {
    fn new(region: &'static Region) -> Scope {
        let mask = region.mask.load(Ordering::Relaxed);
        Scope(if mask == 0 { 0 } else { unsafe { gnomon_begin_slow(region, mask) } })
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if self.0 != 0 {
            unsafe { gnomon_end_slow(self.0) }
        }
    }
}

static OUTER: Region = region(b"outer\0");
static INNER: Region = region(b"inner\0");

fn by_name(name: &str) {
    unsafe {
        if gnomon_enabled.load(Ordering::Relaxed) != 0 {
            gnomon_start_n_slow(name.as_ptr(), name.len());
            gnomon_stop_n_slow(name.as_ptr(), name.len());
        }
    }
}

fn inner(i: usize) {
    let _scope = Scope::new(&INNER);
    by_name("by name");
    if i % 10 == 0 {
        panic!("one in ten");
    }
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> = (0..16)
        .map(|_| {
            std::thread::spawn(|| {
                for i in 0..1000 {
                    let _scope = Scope::new(&OUTER);
                    let _ = std::panic::catch_unwind(|| inner(i));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("done");
}

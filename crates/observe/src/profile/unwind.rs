//! Walks a copied stack outwards, frame by frame, by the call frame information of the files. Code
//! that no file describes (generated at run time) is unwound by its frame pointer.

use std::sync::Arc;

use addr2line::gimli::{CfaRule, Register, RegisterRule};

use super::abi::DEPTH;
use super::eh_frame::{Rules, Tables};

/// Number of registers that are kept, in DWARF's numbering.
const REGISTERS: usize = 33;

/// Registers of a program, in DWARF's numbering; `None` if unknown in this frame.
#[derive(Debug, Clone)]
pub(super) struct RegisterState {
    pub registers: [Option<u64>; REGISTERS],
    pub pc: u64,
}

/// DWARF numbers of the stack pointer and the frame pointer.
const STACK: usize = if cfg!(target_arch = "aarch64") { 31 } else { 7 };
const FRAME: usize = if cfg!(target_arch = "aarch64") { 29 } else { 6 };

/// Bits of a program's address: arm64 may sign return addresses in the others.
const ADDRESS: u64 = if cfg!(target_arch = "aarch64") { (1 << 48) - 1 } else { u64::MAX };

impl RegisterState {
    /// Converts registers from the kernel's order.
    pub fn of_kernel(words: &[u64; 34]) -> Self {
        let mut registers = [None; REGISTERS];
        if cfg!(target_arch = "aarch64") {
            for (to, from) in registers.iter_mut().zip(words) {
                *to = Some(*from);
            }
            return RegisterState { registers, pc: words[32] };
        }
        // r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss
        let order = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16];
        for (to, from) in registers.iter_mut().zip(order) {
            *to = Some(words[from]);
        }
        RegisterState { registers, pc: words[16] }
    }

    fn get(&self, register: Register) -> Option<u64> {
        self.registers.get(usize::from(register.0)).copied().flatten()
    }
}

/// A copied part of a stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackCopy<'a> {
    pub base: u64,
    pub bytes: &'a [u8],
}

impl StackCopy<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// Reason why a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// The walk reached the outermost frame of the thread.
    Beginning,
    /// The code is not described by any file and has no frame pointer.
    Undescribed,
    /// The copied part of the stack ended.
    Copy,
    /// A frame contradicts itself, or the stack is too deep.
    Broken,
}

/// Looks up the unwinding rules for an address.
pub(super) trait UnwindRules {
    /// Returns the rules, and the tables that contain them.
    fn rules(&mut self, address: u64) -> Option<(&Tables, Arc<Rules>)>;
}

/// Returns the addresses of a stack, innermost first: the current address, then return addresses.
pub(super) fn walk(
    mut machine: RegisterState,
    memory: StackCopy<'_>,
    files: &mut impl UnwindRules,
) -> (Vec<u64>, WalkEnd) {
    let mut all = vec![machine.pc];
    // For a caller, the rules are those of the call instruction, before the return address.
    let mut called = 0;
    loop {
        let (next, signal) = match files.rules(machine.pc.wrapping_sub(called)) {
            Some((tables, rules)) => (step(&machine, memory, tables, &rules), rules.signal),
            None => (by_frame_pointer(&machine, memory), false),
        };
        let next = match next {
            Ok(next) if next.pc == 0 => return (all, WalkEnd::Beginning),
            Ok(next) => next,
            Err(end) => return (all, end),
        };
        // The stack pointer only grows on the way out, except that a signal handler may have a
        // stack of its own, and the innermost function on arm64 may have pushed nothing.
        let shrinks = next.registers[STACK] > machine.registers[STACK] || signal || all.len() == 1;
        if !shrinks || all.len() >= DEPTH {
            return (all, WalkEnd::Broken);
        }
        called = u64::from(!signal);
        machine = next;
        all.push(machine.pc);
    }
}

fn step(
    machine: &RegisterState,
    memory: StackCopy<'_>,
    tables: &Tables,
    rules: &Rules,
) -> Result<RegisterState, WalkEnd> {
    let evaluate = |expression, first| {
        tables
            .evaluate(expression, first, |r| machine.get(r), |a| memory.word(a))
            .ok_or(WalkEnd::Copy)
    };
    let cfa = match &rules.cfa {
        CfaRule::RegisterAndOffset { register, offset } => {
            machine.get(*register).ok_or(WalkEnd::Broken)?.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(e) => evaluate(e, None)?,
    };
    let mut next = machine.clone();
    next.registers[STACK] = Some(cfa);
    let mut returns_to =
        machine.get(rules.return_address).filter(|_| cfg!(target_arch = "aarch64"));
    let word = |address: u64| memory.word(address).ok_or(WalkEnd::Copy);
    for (register, rule) in &rules.registers {
        let value = match rule {
            RegisterRule::Undefined => None,
            RegisterRule::SameValue => machine.get(*register),
            RegisterRule::Offset(by) => Some(word(cfa.wrapping_add_signed(*by))?),
            RegisterRule::ValOffset(by) => Some(cfa.wrapping_add_signed(*by)),
            RegisterRule::Register(other) => machine.get(*other),
            RegisterRule::Expression(e) => Some(word(evaluate(e, Some(cfa))?)?),
            RegisterRule::ValExpression(e) => Some(evaluate(e, Some(cfa))?),
            RegisterRule::Constant(value) => Some(*value),
            RegisterRule::Architectural => return Err(WalkEnd::Broken),
        };
        if let Some(place) = next.registers.get_mut(usize::from(register.0)) {
            *place = value;
        }
        if *register == rules.return_address {
            let Some(value) = value else { return Err(WalkEnd::Beginning) };
            returns_to = Some(value);
        }
    }
    next.pc = returns_to.ok_or(WalkEnd::Broken)? & ADDRESS;
    Ok(next)
}

/// Goes one frame outwards by the frame pointer.
fn by_frame_pointer(
    machine: &RegisterState,
    memory: StackCopy<'_>,
) -> Result<RegisterState, WalkEnd> {
    let frame = machine.registers[FRAME].filter(|f| Some(*f) >= machine.registers[STACK]);
    let words = frame.and_then(|f| Some((memory.word(f)?, memory.word(f.checked_add(8)?)?)));
    let (Some(frame), Some((outer, pc))) = (frame, words) else { return Err(WalkEnd::Undescribed) };
    let mut registers = [None; REGISTERS];
    registers[FRAME] = Some(outer);
    registers[STACK] = frame.checked_add(16);
    Ok(RegisterState { registers, pc: pc & ADDRESS })
}

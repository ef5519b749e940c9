# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks the off path of an x86-64 function in a linked file, for check.py.

It interprets objdump's text from a function's entry to its return, and reads
zero for each mark's word (a region's mask, gnomon_enabled). A register or stack
slot holds a known integer, a known address, or an unknown value. A branch on an
unknown value is walked both ways. An instruction that the walk does not know
makes its result unknown. If that loses a mask, the walk comes to a call of
gnomon and reports it: so a mistake of the walk fails the test, and hides
nothing.
"""
import bisect
import re
import subprocess

CALLER_SAVED = "rax rcx rdx rsi rdi r8 r9 r10 r11".split()
PREFIXES = {"lock", "rep", "repz", "repnz", "bnd", "notrack", "data16", "cs",
            "ds", "es", "ss", "addr32"}
FENCES = {"mfence", "lfence", "sfence"}
KEEP_FLAGS = re.compile(r"mov|lea|push|pop|nop|set|cvt|[a-z]+[sp][sd]$|pxor")
MEMORY = re.compile(r"(?:%([c-gs]s):)?(-?0x[0-9a-f]+)?(?:\((.*)\))?$")
# objdump's lines for a defined symbol (address, flags, size, name) and for the
# GOT (size, address).
SYMBOL = re.compile(r"^([0-9a-f]{16}) (.{7}) (?!\*UND\*)\S+\t([0-9a-f]+)\s+"
                    r"(?:\.\w+ )?(\S+)$", re.M)
GOT = re.compile(r"^ *\d+ \.got(?:\.plt)? +([0-9a-f]+) +([0-9a-f]+) ", re.M)
CALL_LIMIT = 2   # a path with more calls of opaque functions is given up
VISIT_LIMIT = 8  # also one that comes to an instruction more often than this

# For each name of a register: its 64-bit name, and its width in bits.
REGISTERS = {}
for _short in "ax bx cx dx si di bp sp".split():
    REGISTERS["r" + _short] = ("r" + _short, 64)
    REGISTERS["e" + _short] = ("r" + _short, 32)
    REGISTERS[_short] = ("r" + _short, 16)
    REGISTERS[_short.rstrip("x") + "l"] = ("r" + _short, 8)
for _short in "abcd":
    REGISTERS[_short + "h"] = ("r" + _short + "x", 8)
for _number in range(8, 16):
    for _suffix, _bits in (("", 64), ("d", 32), ("w", 16), ("b", 8)):
        REGISTERS["r%d%s" % (_number, _suffix)] = ("r%d" % _number, _bits)


def output_of(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def is_word(symbol):
    return symbol == "gnomon_enabled" or re.search("(gnomon_|marked)_region",
                                                symbol) is not None


class Instruction:
    def __init__(self, address, text, following):
        self.address = address
        text, _, comment = text.partition("#")
        self.text = " ".join(text.split())
        words = self.text.split()
        self.prefixes = []
        while len(words) > 1 and words[0] in PREFIXES:
            self.prefixes.append(words.pop(0))
        self.name = words[0]
        # The operand of a jump is an address and "<symbol+offset>".
        self.symbol = ""
        found = re.search(r"<([^>]*)>", self.text)
        if found:
            self.symbol = found.group(1)
        operands = " ".join(words[1:]).split(" <")[0]
        self.operands = re.findall(r"(?:[^,(]|\([^)]*\))+", operands)
        found = re.match(r"\s*([0-9a-f]+)", comment)
        self.rip_target = int(found.group(1), 16) if found else None
        self.next = following

    def is_padding(self):
        return self.name.startswith("nop") or self.name == "endbr64" \
            or self.text == "xchg %ax,%ax"

    def is_frame(self):
        """Whether it is of the stack frame: push, pop, a move of rsp, ret."""
        return self.name.startswith(("push", "pop", "ret")) or (
            self.name[:3] in ("add", "sub", "lea")
            and self.operands[-1] == "%rsp")


class Image:
    """A linked file: its instructions, functions, mark words and GOT. Of a function
    whose name does not match `wanted` there may be no instructions: a library has many
    more of them than are walked."""

    def __init__(self, path, wanted=""):
        self.text = {}  # by address: an instruction's text, the next address
        self.code = {}
        listing = output_of("objdump", "-ht", path)
        self.functions = {}
        self.words = []
        for found in SYMBOL.finditer(listing):
            start, flags, size, name = found.groups()
            span = int(start, 16), int(start, 16) + int(size, 16)
            name = name.split("@")[0]
            if "F" in flags:
                self.functions[name] = span
            elif is_word(name):
                self.words.append(span + (name,))
        self.words.sort()
        for start, end in self.ranges(wanted):
            self.disassemble(path, start, end)
        self.got = []
        for found in GOT.finditer(listing):
            size, start = (int(number, 16) for number in found.groups())
            self.got.append((start, start + size))
        self.slots = {}
        dynamic = subprocess.run(["objdump", "-R", path], text=True,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL).stdout
        for line in dynamic.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1].startswith("R_X86_64_"):
                self.slots[int(fields[0], 16)] = fields[2].split("@")[0]

    def ranges(self, wanted):
        """Spans of code with all functions whose names match; near ones are one."""
        ranges = []
        for start, end in sorted(span for name, span in self.functions.items()
                                 if re.match(wanted, name)):
            if ranges and start - ranges[-1][1] < 4096:
                ranges[-1][1] = max(end, ranges[-1][1])
            else:
                ranges.append([start, end])
        return ranges

    def disassemble(self, path, start, end):
        last = None
        for line in output_of(
                "objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start,
                "--stop-address=%d" % end, path).splitlines():
            address, colon, text = line.partition(":\t")
            if colon and text.strip():
                address = int(address, 16)
                self.text[address] = [text, None]
                if last is not None:
                    self.text[last][1] = address
                last = address

    def instruction_at(self, address):
        """The instruction at the address, or None. It is parsed at the first
        call, because few instructions of a library are walked."""
        if address not in self.code and address in self.text:
            text, following = self.text[address]
            self.code[address] = Instruction(address, text, following)
        return self.code.get(address)

    def word_at(self, address):
        """The symbol of the mark's word at the address, or None."""
        i = bisect.bisect(self.words, (address + 1,)) - 1
        if i >= 0 and self.words[i][0] == address:
            return self.words[i][2]
        return None

    def function_at(self, value):
        """The name of the function at the address `value`; "*": not known."""
        if isinstance(value, tuple) and value[0] == "symbol":
            return value[1]
        for name, (start, _) in self.functions.items():
            if start == value:
                return name
        return "*"

    def in_got(self, address):
        return any(start <= address < end for start, end in self.got)


class Path:
    """One path through a function, and the instructions on it."""

    def __init__(self, start):
        self.at = start
        self.registers = {"rsp": ("stack", 0)}
        self.stack = {}
        self.flags = None  # the result that they were set by; None: not known
        self.calls = ()
        self.instructions = 0  # without those of the frame
        self.frame = 0         # instructions of the frame
        self.words = 0         # loads of marks' words
        self.got = 0           # loads of marks' addresses from the GOT
        self.addresses = 0     # loads of functions' addresses from the GOT
        self.reads = 0         # all loads but push, pop, ret and `addresses`
        self.faults = []
        self.visits = {}

    def copy(self):
        other = Path(self.at)
        for name, value in self.__dict__.items():
            copied = isinstance(value, (dict, list))
            setattr(other, name, value.copy() if copied else value)
        return other


def known_condition(condition, result):
    """Whether a branch is taken after `test result, result`; None: unknown."""
    if result is None:
        return None
    return {"e": result == 0, "ne": result != 0, "s": result < 0,
            "ns": result >= 0, "l": result < 0, "ge": result >= 0,
            "le": result <= 0, "g": result > 0, "b": False, "ae": True,
            "be": result == 0, "a": result != 0}.get(condition)


def combine(name, operands, values):
    """The result of a two-operand instruction; None: not known."""
    source, target = values
    if name.startswith("xor") and operands[0] == operands[1]:
        return 0
    if name.startswith(("test", "and")) and 0 in values:
        return 0
    if isinstance(target, tuple) and target[0] == "stack" \
            and isinstance(source, int) and name[:3] in ("add", "sub"):
        return ("stack", target[1] + (source if name[0] == "a"
                                      else -source))
    if not isinstance(source, int) or not isinstance(target, int):
        return None
    if name.startswith("cmp"):
        return target if source == 0 else None
    for prefix, result in (("test", source & target),
                           ("and", source & target),
                           ("or", source | target),
                           ("xor", source ^ target),
                           ("add", source + target),
                           ("sub", target - source)):
        if name.startswith(prefix):
            return result
    return None


class Walk:
    """All paths through one function with every mark off."""

    def __init__(self, image, function):
        self.image = image
        self.start, self.end = image.functions[function]
        self.function = function
        self.finished = []
        waiting = [Path(self.start)]
        while waiting:
            path = waiting.pop()
            while path is not None:
                path = self.step(path, waiting)

    def step(self, path, waiting):
        """Executes one instruction. Returns the path to go on with, or None."""
        one = self.image.instruction_at(path.at)
        path.visits[path.at] = path.visits.get(path.at, 0) + 1
        if one is None:
            path.faults.append("runs into no code at 0x%x" % path.at)
            self.finished.append(path)
            return None
        if path.visits[path.at] > VISIT_LIMIT or len(path.calls) > CALL_LIMIT:
            self.finished += [path] if path.faults else []
            return None
        path.at = one.next
        if one.is_padding():
            return path
        path.frame += one.is_frame()
        path.instructions += not one.is_frame()
        if "lock" in one.prefixes or one.name in FENCES or (
                one.name == "xchg" and any("(" in o for o in one.operands)):
            path.faults.append("atomic instruction: " + one.text)
        if one.name in ("ret", "retq", "ud2", "hlt"):
            self.finished.append(path)
            return None
        if one.name.startswith("call"):
            self.call(path, one)
            for register in CALLER_SAVED:
                path.registers.pop(register, None)
            path.flags = None
            return path
        if one.name.startswith("j"):
            return self.jump(path, one, waiting)
        self.execute(path, one)
        return path

    def call(self, path, one):
        symbol = one.symbol
        if one.operands[0].startswith("*%"):
            symbol = self.image.function_at(
                path.registers.get(one.operands[0][2:]))
        elif one.operands[0].startswith("*"):
            address = self.address(path, one, one.operands[0][1:])
            symbol = self.image.slots.get(address, "*")
        symbol = symbol.split("@")[0].split("+")[0]
        path.calls += (symbol,)
        if "gnomon" in symbol:
            path.faults.append("call of %s" % symbol)

    def jump(self, path, one, waiting):
        if one.operands[0].startswith("*"):
            self.call(path, one)
            self.finished.append(path)
            return None
        target = int(one.operands[0], 16)
        inside = self.start <= target < self.end or ".cold" in one.symbol
        if one.name == "jmp":
            if inside:
                path.at = target
                return path
            self.call(path, one)
            self.finished.append(path)
            return None
        taken = known_condition(one.name[1:], path.flags)
        if taken is None:
            waiting.append(path.copy())
            taken = True
        if taken and not inside:
            self.call(path, one)
            self.finished.append(path)
            return None
        if taken:
            path.at = target
        return path

    # ---- Values --------------------------------------------------------------

    def address(self, path, one, operand):
        """The address of a memory operand: an integer, ("stack", offset),
        ("symbol", name), "thread", or None."""
        segment, offset, registers = MEMORY.match(operand).groups()
        if segment in ("fs", "gs"):
            return "thread"
        offset = int(offset or "0", 16)
        if not registers:
            return offset
        if "%rip" in registers:
            return one.rip_target
        base, *index = registers.split(",")
        if index:
            return None
        value = path.registers.get(base.strip("%"))
        if isinstance(value, int):
            return value + offset
        if isinstance(value, tuple) and value[0] == "stack":
            return ("stack", value[1] + offset)
        return value if offset == 0 else None

    def load(self, path, one, operand):
        address = self.address(path, one, operand)
        path.reads += 1
        if isinstance(address, tuple):
            if address[0] == "stack":
                return path.stack.get(address[1])
            if is_word(address[1]):
                path.words += 1
                return 0
        elif address == "thread":
            path.faults.append("thread-local load: " + one.text)
        elif isinstance(address, int) and self.image.word_at(address):
            path.words += 1
            return 0
        elif isinstance(address, int) and self.image.in_got(address):
            return self.load_got(path, address)
        return None

    def load_got(self, path, address):
        symbol = self.image.slots.get(address, "")
        if symbol.startswith("*ABS*+"):
            target = int(symbol[6:], 16)
            path.got += self.image.word_at(target) is not None
            return target
        if is_word(symbol):
            path.got += 1
        elif symbol:
            path.addresses += 1
            path.reads -= 1
        return ("symbol", symbol)

    def store(self, path, one, operand, value):
        address = self.address(path, one, operand)
        if isinstance(address, tuple) and address[0] == "stack":
            path.stack[address[1]] = value
        elif isinstance(address, tuple) or (
                isinstance(address, int) and self.image.word_at(address)):
            path.faults.append("store into a mark: " + one.text)

    def get(self, path, one, operand):
        if operand.startswith("$"):
            value = int(operand[1:], 16)
            return value - (1 << 64) if value >> 63 else value
        if not operand.startswith("%"):
            return self.load(path, one, operand)
        name, bits = REGISTERS.get(operand[1:], (None, 0))
        return path.registers.get(name) if bits >= 32 else None

    def put(self, path, one, operand, value):
        if not operand.startswith("%"):
            self.store(path, one, operand, value)
            return
        name, bits = REGISTERS.get(operand[1:], (operand[1:], 64))
        path.registers[name] = value if bits >= 32 else None

    def execute(self, path, one):
        name, operands = one.name, one.operands
        if name.startswith(("push", "pop")):
            top = path.registers.get("rsp")
            if not isinstance(top, tuple):
                path.faults.append("moves the stack: " + one.text)
                top = (None, 0)
            top = top[1]
            if name.startswith("push"):
                path.stack[top - 8] = self.get(path, one, operands[0])
                path.registers["rsp"] = ("stack", top - 8)
            else:
                path.registers["rsp"] = ("stack", top + 8)
                self.put(path, one, operands[0], path.stack.get(top))
            return
        if name.startswith("lea"):
            value = self.address(path, one, operands[0])
            self.put(path, one, operands[1], value)
            return
        if name.startswith("cmov"):
            new, old = (self.get(path, one, o) for o in operands)
            taken = known_condition(name[4:], path.flags)
            if taken is None and new != old:
                new = None
            self.put(path, one, operands[1], old if taken is False else new)
            return
        values = [self.get(path, one, o) for o in
                  (operands[:-1] if name.startswith("mov") else operands)]
        if name.startswith("mov"):
            narrow = name.startswith(("movz", "movs")) and values[0] != 0
            self.put(path, one, operands[1], None if narrow else values[0])
            return
        if len(operands) < 2 or name in ("xchg", "xadd"):
            for register in [o[1:] for o in operands] + ["rax", "rdx"]:
                path.registers.pop(REGISTERS.get(register, ("",))[0], None)
        result = None
        if len(values) == 2:
            result = combine(name, operands, values)
        if name.startswith(("test", "cmp")):
            path.flags = result
            return
        if not KEEP_FLAGS.match(name):
            bitwise = name.startswith(("and", "or", "xor"))
            path.flags = result if bitwise else None
        if operands:
            self.put(path, one, operands[-1], result)

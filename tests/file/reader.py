#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""reader.py FILE: prints all of a .gnomon file, a field a line.

Written from docs/file-format.md alone; what it prints must be what gnomon's own
readers say (tests/profile/test_file_reader.c)."""
import struct
import sys
import zlib

NUMBERS = {"u32": "<I", "u64": "<Q", "i32": "<i", "i64": "<q", "f64": "<d"}
KINDS = {  # in the order of gnomon/profile.h
    "RUN ": "text job, i32 rank, text attempt, text uuid, i32 local_rank, "
            "i32 world_size, text host, i64 pid, text dir, text spec, "
            "text clock, u64 zero_unix_ns, u64 clock_error_ns, u64 now_ns, "
            "anchors anchors, f64 scope_cost_ns",
    "STAG": "u32 run, u32 ordinal, text name, u64 begin_ns, u64 end_ns, "
            "i32 ended, stats steps, u32 count, u64 recorded_ns, u64 late",
    "STEP": "u32 stage, u64 number, u64 begin_ns, u64 end_ns, "
            "i32 phase, i32 rank, u32 ordinal",
    "STIM": "u32 stage, u32 view, u32 step, u32 region, stats time, "
            "u64 own_ns, u64 calls",
    "VTIM": "u32 stage, u32 view, u64 recorded_ns",
    "STRP": "u32 stage, u32 track, u32 region, u64 width, bins bins, slow slow",
    "TRCK": "u32 run, u32 kind, i32 device, u32 index, text name, i64 os_id, "
            "u32 thread_count, i32 alive, i32 inexact",
    "REGN": "u32 kind, text name, text category, text file, u32 line, "
            "text function",
    "NODE": "u32 track, u32 stage, u32 view, u32 parent, u32 region, u32 op, "
            "u32 open, u32 flags, u64 first, stats host, stats device, "
            "memory memory, work work",
    "OPEN": "u32 track, u32 node, u64 begin_ns",
    "LINK": "u32 from, u32 to, u32 kind, u64 count, u64 from_instance, "
            "u64 to_instance, u64 from_ns, u64 to_ns",
    "CNTR": "u32 track, u32 region, u32 stage, u64 count, f64 last, f64 min, "
            "f64 max, f64 sum, u64 nans",
    "META": "u32 run, text key, text json",
    "LOSS": "u32 run, u32 track, text kind, u64 count, u64 begin_ns, "
            "u64 end_ns",
    "VIEW": "text words",
    "OP  ": "text operation, u32 flags, inputs inputs, attributes attributes, "
            "u64 flops, u64 bytes",
    "EVNT": "u32 kind, u32 track, u32 node, u32 region, u64 begin_ns, "
            "u64 duration_ns, u64 instance, f64 value",
}
STRUCTS = {
    "stats": "u64 count, u64 total_ns, u64 self_ns, u64 min_ns, u64 max_ns, "
             "cells cells",
    "memory": "u32 pool, u64 allocations, u64 frees, u64 allocated_bytes, "
              "u64 freed_bytes, i64 live_bytes, u64 peak_bytes",
    "work": "u64 flops, u64 bytes",
    "inputs": "text dtype, dims dims, strides strides",
    "attributes": "text key, text json",
    "anchors": "u64 ns, u64 unix_ns, u64 error_ns",
    "bins": "u32 count, f64 min, f64 max, f64 sum",
    "slow": "u64 at, u64 number, u64 ns",
}
ONE = ("stats", "work")


class Reader:
    def __init__(self, data):
        self.data, self.texts = data, b""
        self.items = {kind: [] for kind in KINDS}
        magic, form, crc = struct.unpack_from("<8sII", data)
        assert magic == b"\x89GNOMON\n" and form in (1, 2)
        assert crc == zlib.crc32(data[:12])
        at = 16
        while at < len(data):
            at = self.section(at)

    def section(self, at):
        kind, size, total, first, count, crc, zero, own = struct.unpack_from(
            "<4sIQQIIII", self.data, at)
        assert own == zlib.crc32(self.data[at:at + 36]) and zero == 0
        payload = self.data[at + 40:at + 40 + total]
        assert len(payload) == total and crc == zlib.crc32(payload)
        kind = kind.decode()
        if kind == "TEXT":
            assert first == len(self.texts)
            self.texts += payload
        elif kind == "END ":
            for i in range(count):
                name, _, n = struct.unpack_from("<4sIQ", payload, i * size)
                assert len(self.items[name.decode()]) == n
        elif kind == "EVBK":
            assert first == len(self.items["EVNT"]) + 1 and size == 3
            self.block(payload, count)
        else:
            assert first == len(self.items[kind]) + 1
            self.tail = payload[size * count:]
            for i in range(count):
                self.items[kind].append(
                    self.record(KINDS[kind], payload[i * size:(i + 1) * size]))
        return at + 40 + (total + 7) // 8 * 8

    def block(self, data, count):
        begin, end, *numbers = struct.unpack_from("<QQ4I", data)
        self.events, self.at = data, 32
        node = track = region = at_ns = 0
        seen = []
        for _ in range(count):
            first = self.number()
            parts = self.number() if first & 1 else 0
            node += self.difference(first >> 1)
            track += self.difference(self.number()) if parts & 1 else 0
            later = self.number()
            at_ns += self.difference(later) if parts & 1 else later
            event = {"kind": 0, "track": track, "node": node, "region": 0,
                     "begin_ns": at_ns, "duration_ns": self.number(),
                     "instance": 0, "value": 0.0}
            if parts & 2:
                event["kind"] = self.number()
            if parts & 4:
                region += self.difference(self.number())
                event["region"] = region
            if parts & 8:
                event["instance"] = self.number()
            if parts & 16:
                event["value"], = struct.unpack_from("<d", data, self.at)
                self.at += 8
            assert not parts & ~31
            seen.append(event)
        assert self.at == len(data) and count <= 1024
        ends = [e["begin_ns"] + e["duration_ns"] for e in seen]
        assert begin == min(e["begin_ns"] for e in seen)
        assert end == min(max(ends), 2**64 - 1)
        for i, field in ((0, "track"), (2, "node")):
            assert numbers[i] == min(e[field] for e in seen)
            assert numbers[i + 1] == max(e[field] for e in seen)
        self.items["EVNT"] += seen

    def number(self):
        value = shift = 0
        while True:
            byte = self.events[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    @staticmethod
    def difference(value):
        return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)

    def text(self, at):
        if at == 0:
            return None
        return self.texts[at - 1:self.texts.index(b"\0", at - 1)].decode()

    def numbers(self, at, form):
        return struct.unpack_from("<" + form, self.tail, at - 1)

    def struct(self, what, at):
        """A struct of the tail, and the offset of the next one."""
        size, = self.numbers(at, "I")
        start = at - 1 + 4
        fields = self.record(STRUCTS[what], self.tail[start:at - 1 + size])
        return tuple(fields.values()), at + size

    def many(self, what, at, count):
        if what == "cells":
            packed = self.numbers(at, f"{count}Q") if count else ()
            return [(c >> 54, c & ((1 << 54) - 1)) for c in packed]
        if what == "dims":
            return self.numbers(at, f"{count}q") if count else ()
        out = []
        for _ in range(count):
            item, at = self.struct(what, at)
            out.append(item)
        return out

    def record(self, fields, data):
        out, at = {}, 0
        for field in fields.split(", "):
            what, name = field.split(" ")
            if what in NUMBERS:
                out[name], = struct.unpack_from(NUMBERS[what], data, at)
                at += struct.calcsize(NUMBERS[what])
                continue
            where, = struct.unpack_from("<I", data, at)
            at += 4
            if what == "text":
                out[name] = self.text(where)
            elif what in ONE:
                out[name] = self.struct(what, where)[0] if where else None
            elif what == "strides":
                rank = len(out["dims"])
                out[name] = (self.numbers(where, f"{rank}q")
                             if where else None)
            else:
                count, = struct.unpack_from("<I", data, at)
                at += 4
                out[name] = self.many(what, where, count)
        return out


def show(value):
    """As test_file_reader.c prints it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    if isinstance(value, str):
        return '"' + value.encode().hex() + '"'
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(map(show, value)) + "]"
    return str(value)


reader = Reader(open(sys.argv[1], "rb").read())
for kind, items in reader.items.items():
    for number, item in enumerate(items, 1):
        for name, value in item.items():
            print(f"{kind.strip()} {number} {name} {show(value)}")

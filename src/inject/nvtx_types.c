/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sizes of the predefined types of structured payloads
 * (nvtx3/nvToolsExtPayload.h), and reading their numbers as doubles. Any thread;
 * addresses need no alignment. */
#include <limits.h>
#include <string.h>

#include "inject/nvtx.h"

#if GNOMON__INJECT_EXTENSIONS

enum { NO_NUMBER, TEXT, SIGNED, UNSIGNED, REAL };
#define PLAIN_CHAR (CHAR_MIN < 0 ? SIGNED : UNSIGNED)

/* Sizes that depend on the platform are the same in all modules of a process. Numbers of
 * 128 bits, addresses, characters and ids are not recorded as numbers. */
#define SIZED(type) [NVTX_PAYLOAD_ENTRY_TYPE_##type]
static const struct {
    uint8_t size, kind;
} types[] = {
    SIZED(CHAR) = {1, PLAIN_CHAR},
    SIZED(UCHAR) = {1, UNSIGNED},
    SIZED(SHORT) = {sizeof(short), SIGNED},
    SIZED(USHORT) = {sizeof(short), UNSIGNED},
    SIZED(INT) = {sizeof(int), SIGNED},
    SIZED(UINT) = {sizeof(int), UNSIGNED},
    SIZED(LONG) = {sizeof(long), SIGNED},
    SIZED(ULONG) = {sizeof(long), UNSIGNED},
    SIZED(LONGLONG) = {sizeof(long long), SIGNED},
    SIZED(ULONGLONG) = {sizeof(long long), UNSIGNED},
    SIZED(INT8) = {1, SIGNED},
    SIZED(UINT8) = {1, UNSIGNED},
    SIZED(INT16) = {2, SIGNED},
    SIZED(UINT16) = {2, UNSIGNED},
    SIZED(INT32) = {4, SIGNED},
    SIZED(UINT32) = {4, UNSIGNED},
    SIZED(INT64) = {8, SIGNED},
    SIZED(UINT64) = {8, UNSIGNED},
    SIZED(FLOAT) = {4, REAL},
    SIZED(DOUBLE) = {8, REAL},
    SIZED(LONGDOUBLE) = {sizeof(long double), REAL},
    SIZED(SIZE) = {sizeof(size_t), UNSIGNED},
    SIZED(ADDRESS) = {sizeof(void *), NO_NUMBER},
    SIZED(WCHAR) = {sizeof(wchar_t), NO_NUMBER},
    SIZED(CHAR8) = {1, NO_NUMBER},
    SIZED(CHAR16) = {2, NO_NUMBER},
    SIZED(CHAR32) = {4, NO_NUMBER},
    SIZED(BYTE) = {1, NO_NUMBER},
    SIZED(INT128) = {16, NO_NUMBER},
    SIZED(UINT128) = {16, NO_NUMBER},
    SIZED(FLOAT16) = {2, REAL},
    SIZED(FLOAT32) = {4, REAL},
    SIZED(FLOAT64) = {8, REAL},
    SIZED(FLOAT128) = {16, NO_NUMBER},
    SIZED(BF16) = {2, REAL},
    SIZED(TF32) = {4, REAL},
    SIZED(CSTRING) = {1, TEXT},
    SIZED(CSTRING_UTF8) = {1, TEXT},
    SIZED(CSTRING_UTF16) = {2, TEXT},
    SIZED(CSTRING_UTF32) = {4, TEXT},
    SIZED(CATEGORY) = {4, NO_NUMBER},
    SIZED(COLOR_ARGB) = {4, NO_NUMBER},
    SIZED(SCOPE_ID) = {8, NO_NUMBER},
    SIZED(PID_UINT32) = {4, NO_NUMBER},
    SIZED(PID_UINT64) = {8, NO_NUMBER},
    SIZED(TID_UINT32) = {4, NO_NUMBER},
    SIZED(TID_UINT64) = {8, NO_NUMBER},
    SIZED(NVTX_REGISTERED_STRING_HANDLE) = {sizeof(void *), NO_NUMBER},
};
#define TYPES (sizeof types / sizeof *types)

size_t gnomon__inject_type_size(uint64_t type)
{
    return type < TYPES ? types[type].size : 0;
}

size_t gnomon__inject_text_unit(uint64_t type)
{
    return type < TYPES && types[type].kind == TEXT ? types[type].size : 0;
}

int gnomon__inject_is_number(uint64_t type)
{
    return type < TYPES && types[type].kind > TEXT;
}

/* IEEE's half: 5 bits of exponent, 10 of fraction. */
static double half_of(uint16_t bits)
{
    uint32_t exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
    uint32_t wide =
        (exponent == 0x1F ? 0xFF : exponent + 112) << 23 | fraction << 13;
    float value;
    memcpy(&value, &wide, sizeof value);
    if (exponent == 0)
        value = (float)fraction * 0x1p-24f;
    return (double)(bits & 0x8000 ? -value : value);
}

static double real_at(uint64_t type, const void *at)
{
    uint16_t bits;
    float single;
    double value;
    long double longest;
    switch (types[type].size) {
    case 2:
        memcpy(&bits, at, sizeof bits);
        if (type == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16)
            return half_of(bits);
        uint32_t wide = (uint32_t)bits << 16;
        memcpy(&single, &wide, sizeof single);
        return (double)single;
    case 4:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case 8:
        memcpy(&value, at, sizeof value);
        return value;
    default:
        memcpy(&longest, at, sizeof longest);
        return (double)longest;
    }
}

int gnomon__inject_number(double *out, uint64_t type, const void *at,
                          size_t room)
{
    size_t size = gnomon__inject_type_size(type);
    if (!gnomon__inject_is_number(type) || size > room)
        return 0;
    if (types[type].kind == REAL) {
        *out = real_at(type, at);
        return 1;
    }
    uint64_t bits = 0, sign = 1ull << (8 * size - 1);
    memcpy(&bits, at, size); /* little-endian */
    *out = types[type].kind == SIGNED ? (double)(int64_t)((bits ^ sign) - sign)
                                      : (double)bits;
    return 1;
}

#endif

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""off.py INCLUDE: what include/gnomon/off.h has to be, made of the other headers.

    python3 tests/headers/off.py include | clang-format > include/gnomon/off.h

The test headers.off compares the two, but for white space. What a call returns follows
from its declaration; what does not is in RETURNS and BODIES.
"""
import re
import sys

HEADERS = [("gnomon.h", "GNOMON"), ("gnomon/profile.h", "PROFILE"),
           ("gnomon/tool.h", "TOOL"), ("gnomon/cuda.h", "CUDA")]

# A host need not know that there is no gnomon, where nothing was to be brought.
RETURNS = {
    "gnomon_setup": "GNOMON_OK",
    "gnomon_teardown": "GNOMON_OK",
    "gnomon_stage_begin": "GNOMON_OK",
    "gnomon_stage_end": "GNOMON_OK",
    "gnomon_metadata": "GNOMON_OK",
    "gnomon_detach": "GNOMON_ENOENT",  # nothing is attached
    "gnomon_thread_stack": "GNOMON_EINVAL",  # no such thread
    "gnomon_version": "GNOMON_VERSION",
    "gnomon_error_text":
        '"this program was built without gnomon: with GNOMON_DISABLE, or for "'
        ' "a system that gnomon does not know"',
}

BODIES = {
    "gnomon_attach": """
    return profiler == GNOMON_NULL && self == GNOMON_NULL && words != GNOMON_NULL && *words == 0
        ? GNOMON_OK : GNOMON_ESTATE;""",
    "gnomon_error_name": """
#define GNOMON_ERROR_NAME(name, number, text) \\
    if (code == number) \\
        return "GNOMON_" #name;
    GNOMON_ERRORS(GNOMON_ERROR_NAME)
#undef GNOMON_ERROR_NAME
    if (code == GNOMON_DECLINED)
        return "GNOMON_DECLINED";
    return code == 0 ? "GNOMON_OK" : "GNOMON_E?";""",
    "gnomon_spec": """
    if (size > 0)
        *buffer = 0;
    return 0;""",
    "gnomon_health_get": """
    void *start = health;
    char *bytes = GNOMON_CAST(char *, start);
    uint32_t size = health->struct_size, i;
    for (i = sizeof size; i < size; i++)
        bytes[i] = 0;""",
}

# By the type that a call returns: its value, and for a mark the macro that compiles
# the call and does not evaluate what it is given.
VALUES = {
    "void": (None, "GNOMON__NOT({})"),
    "int": ("GNOMON_ESTATE", None),
    "size_t": ("0", None),
    "uint32_t": ("0", None),
    "gnomon_token": ("0", "gnomon__no_token(1 ? 0 : {})"),
    "gnomon_range": ("0", "gnomon__no_token(1 ? 0 : {})"),
    "gnomon_region *": ("GNOMON_NULL", "gnomon__no_region(1 ? GNOMON_NULL : {})"),
    "gnomon_link": ("{{0, 0, 0, 0, 0, 0, 0, 0}}", None),
    "gnomon_device_scope": ("{0, 0, 0}", "gnomon__no_scope_on_or(1 ? 0 : ({}, 0))"),
}

HEAD = """/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What gnomon's marks and calls are with GNOMON_DISABLE, and by itself on a compiler or
 * system that gnomon does not know. Each public header includes its own section.
 * Made of these headers by tests/headers/off.py, which has what is not by rule.
 *
 * Marks leave no symbol, no data and no code, and what they are given is not
 * evaluated; it is still compiled, so that nothing is unused and nothing rots.
 * For that, those that take something are macros too. Of the others,
 *
 *   pointers       are NULL, also regions, which all marks take, and the host table
 *   numbers        are 0
 *   control calls  return GNOMON_OK where a host needs not know; those that were to
 *                  bring something return GNOMON_ESTATE, and gnomon_error_text says
 *                  why
 *   GNOMON_REGION  makes a local variable, which no mark looks at
 *
 * Nothing needs to be linked. Modules with and without may be mixed.
 */
#include "../gnomon.h"
"""

FIRST = {"GNOMON": """
/* In these, `given` is never evaluated: a constant stands before it. They are
 * calls so that a name may be qualified, as in ::gnomon_end(token). */
#define GNOMON__NOT(given) gnomon__nothing(1 ? 0 : ((given), 0))
GNOMON_INLINE void gnomon__nothing(int nothing)
{
    (void)nothing;
}

GNOMON_INLINE uint64_t gnomon__no_token(uint64_t token)
{
    return token;
}

GNOMON_INLINE gnomon_region *gnomon__no_region(gnomon_region *region)
{
    return region;
}
""", "TOOL": """
GNOMON_INLINE gnomon_device_scope gnomon__no_scope_on_or(int nothing)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)nothing;
    return none;
}
"""}

LAST = {"GNOMON": """
/* Not looked at. Its texts are compiled, but are not in it. */
#define GNOMON_REGION_INIT(kind, name, category, function) \\
    { \\
        0, sizeof(gnomon_region), GNOMON_ABI, kind, 0, \\
            GNOMON__UNREAD(name, category, function), GNOMON_NULL, \\
            GNOMON_NULL, GNOMON_NULL, GNOMON_NULL, GNOMON_NULL \\
    }
#define GNOMON__UNREAD(a, b, c) \\
    (sizeof(a) + sizeof(b) + sizeof(c) > 0 ? 0u : 1u)
#define GNOMON_REGION(variable, name, category) \\
    gnomon_region variable = \\
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, category, ""); \\
    GNOMON__SCOPE(sizeof(variable) > 0, __COUNTER__)

/* Declarations, as the real ones, that declare nothing which could be unused. */
#define GNOMON__PASTE(a, b) a##b
#define GNOMON__NAME(a, b) GNOMON__PASTE(a, b)
#define GNOMON__SCOPE(given, n) \\
    enum { GNOMON__NAME(gnomon__scope, n) = (given) }
#define GNOMON_SCOPE(name) GNOMON__SCOPE(sizeof(name) > 0, __COUNTER__)
#define GNOMON_SCOPE_IN(category, name) \\
    GNOMON__SCOPE(sizeof(category) + sizeof(name) > 0, __COUNTER__)
#define GNOMON_FUNCTION() GNOMON__SCOPE(0, __COUNTER__)
#ifndef __cplusplus
/* clang takes an enum for a place outside of functions, where sizes are constants. */
#define GNOMON__OP_SCOPE(given, n) \\
    void GNOMON__NAME(gnomon__scope, n)(const char of[given])
#define GNOMON_OP_SCOPE(name, ...) \\
    GNOMON__OP_SCOPE(sizeof(name) + sizeof((gnomon_op_info){__VA_ARGS__}), \\
                     __COUNTER__)
#endif

#define GNOMON_COUNTER(name, value) \\
    GNOMON__NOT(((gnomon_start)(name), (gnomon_counter)(GNOMON_NULL, value)))
#define GNOMON_MARK(name) GNOMON__NOT((gnomon_start)(name))
""", "TOOL": """
#define GNOMON_POOL(variable, name) GNOMON_REGION(variable, name, GNOMON_NULL)
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \\
    GNOMON__SCOPE(sizeof(name) + sizeof(device) + sizeof(stream) > 0, \\
                  __COUNTER__)
"""}

DECLARATION = re.compile(
    r"^(GNOMON__CALL|GNOMON_API|GNOMON__SLOW_API|GNOMON_INLINE)\s([^;{}()]*?)\b"
    r"(gnomon_[a-z0-9][a-z0-9_]*)\(([^()]*)\)\s*[;{]", re.M)


def declared(text):
    """(whether it is a mark, type, name, parameters) of each call that a user may make.
    A mark is what is declared only without GNOMON_DISABLE."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    open_ifs, parts, part = [], [], []
    for line in text.replace("\\\n", "").split("\n"):
        word = re.match(r"\s*#\s*(ifn?def|if|endif)\b(.*)", line)
        if not word:
            if not line.lstrip().startswith("#"):
                part.append(line)
            continue
        parts.append((any(open_ifs), "\n".join(part)))
        part = []
        if word[1] == "endif":
            open_ifs.pop()
        else:
            open_ifs.append(word[1] == "ifndef" and word[2].strip() == "GNOMON_DISABLE")
    parts.append((False, "\n".join(part)))
    for is_mark, part in parts:
        for how, kind, name, parameters in DECLARATION.findall(part):
            if is_mark == (how == "GNOMON__CALL"):
                if how == "GNOMON__CALL":
                    sys.exit(f"{name}: GNOMON__CALL is for both cases")
                continue
            if not name.endswith("_slow") and not name.startswith("gnomon__"):
                yield is_mark, " ".join(kind.split()), name, " ".join(parameters.split())


def definition(is_mark, kind, name, parameters):
    given = [] if parameters == "void" else [
        re.search(r"(\w+)$", one)[1] for one in parameters.split(",")]
    if name in BODIES:
        body = BODIES[name]
    else:
        body, unread = "", []
        value, _ = VALUES.get(kind, ("GNOMON_NULL" if kind.endswith("*") else None, None))
        if value is None and kind != "void" and name not in RETURNS:
            sys.exit(f"{name} returns {kind}: say which value")
        value = RETURNS.get(name, value)
        for parameter, one in zip(parameters.split(","), given):
            if parameter.rstrip().endswith("**out"):
                body += f"    *{one} = GNOMON_NULL;\n"
            elif parameter.strip() == "double *ms":
                body += f"    *{one} = 0;\n"
            else:
                unread.append(f"(void){one}")
        if unread:
            body += f"    {', '.join(unread)};\n"
        if value and value[0] == "{":
            body = f"    {kind} none = {value};\n" + body + "    return none;"
        elif value:
            body += f"    return {value};"
    how = "GNOMON_INLINE" if is_mark else "GNOMON__CALL"
    space = "" if kind.endswith("*") else " "
    text = f"\n{how} {kind}{space}{name}({parameters})\n{{\n{body}\n}}\n"
    if is_mark and given:
        arguments = ", ".join(given)
        macro = VALUES[kind][1].format(f"{name}({arguments})")
        text += f"#define {name}({arguments}) \\\n    {macro}\n"
    return text


def section(path, word, text):
    calls = "".join(definition(*one) for one in declared(text))
    return f"""
/* ==== {path} {"=" * (68 - len(path))} */

#ifdef GNOMON__OFF_{word}

GNOMON_BEGIN_DECLS
{FIRST.get(word, "")}{calls}{LAST.get(word, "")}
GNOMON_END_DECLS

#endif
"""


def made(include):
    text = HEAD
    for path, word in HEADERS:
        with open(f"{include}/{path}", encoding="utf-8") as file:
            text += section(path, word, file.read())
    return text


def plain(text):
    return re.sub(r"[\s\\]+", "", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        with open(f"{sys.argv[2]}/gnomon/off.h", encoding="utf-8") as file:
            if plain(file.read()) != plain(made(sys.argv[2])):
                sys.exit("include/gnomon/off.h is not what tests/headers/off.py makes")
    else:
        sys.stdout.write(made(sys.argv[1]))

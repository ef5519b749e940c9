# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lightning's table of a profile, as the profiler `simple` prints it."""

LIGHTNING = ("scope", "function", "action", "range")


def simple(profile, stage):
    """Lightning's table of a stage; "" where nothing ended in it."""
    rows = profile.rows(stage, kinds=LIGHTNING)
    if not rows:
        return ""
    wall = sum(
        s.recorded_ns or s.end_ns - s.begin_ns for s in profile.stages if s.name == stage
    )
    width = max(len(row.name) for row in rows)

    def line(name, *cells):
        return f"|  {name:<{width}}\t|  " + "".join(f"{c:<15}\t|  " for c in cells)[:-2]

    heads = ("Mean duration (s)", "Num calls", "Total time (s)", "Percentage %")
    total = ("-", sum(row.host.count for row in rows), f"{wall / 1e9:.5}", "100 %")
    head = line("Action", *heads)
    rule = "-" * (len(("\n" + head).expandtabs(8)))
    lines = [head, rule, line("Total", *total), rule]
    for row in rows:
        seconds = row.host.total_ns / 1e9
        share = f"{100.0 * seconds / (wall / 1e9):.5}" if wall else "nan"
        mean = f"{seconds / row.host.count:.5}"
        lines.append(line(row.name, mean, row.host.count, f"{seconds:.5}", share))
    title = (stage.upper() + " " if stage else "") + "Profiler Report"
    return "\n".join([title, "", rule, *lines, rule, ""])

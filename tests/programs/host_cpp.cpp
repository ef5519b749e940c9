// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A host in C++, whose exceptions end scopes, with a profiler of its own.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <gnomon.h>
#include <gnomon/tool.h>

namespace
{

struct Event {
    std::string what;
    std::uint64_t token;
};

struct Recorder {
    std::vector<Event> open;
    std::string text;
};

void on_start(void *self, const gnomon_frame *frame, std::uint64_t *slot)
{
    Recorder &recorder = *static_cast<Recorder *>(self);
    *slot = recorder.open.size();
    recorder.open.push_back(Event{frame->name, frame->token});
    recorder.text += "(" + recorder.open.back().what;
}

void on_stop(void *self, const gnomon_frame *frame, std::uint64_t *slot)
{
    Recorder &recorder = *static_cast<Recorder *>(self);
    bool same = *slot + 1 == recorder.open.size() &&
                recorder.open.back().token == frame->token;
    recorder.open.pop_back();
    recorder.text += same ? ")" : "?";
}

gnomon_profiler recorder_table()
{
    gnomon_profiler table = gnomon_profiler();
    table.struct_size = sizeof table;
    table.abi = GNOMON_ABI;
    table.name = "recorder";
    table.start = on_start;
    table.stop = on_stop;
    return table;
}

int deep(int levels)
{
    GNOMON_FUNCTION();
    if (levels == 0) {
        GNOMON_SCOPE("last");
        throw std::runtime_error("from the bottom");
    }
    GNOMON_SCOPE_IN("category", "inner");
    return deep(levels - 1) + 1;
}

template <typename T> T twice(T value)
{
    GNOMON_SCOPE("template");
    GNOMON_MARK("mark");
    GNOMON_COUNTER("counter", static_cast<double>(value));
    return value + value;
}

} // namespace

int main()
{
    Recorder recorder;
    const gnomon_profiler table = recorder_table();
    int code = gnomon_attach(&table, &recorder, nullptr);
    for (int i = 0; i < 2; i++) {
        GNOMON_SCOPE("step");
        try {
            deep(2);
        } catch (const std::runtime_error &) {
            GNOMON_SCOPE("caught");
        }
        twice(i);
        twice(0.5);
        gnomon_step();
    }
    gnomon_health health = gnomon_health();
    health.struct_size = sizeof health;
    gnomon_health_get(&health);
    code |= gnomon_detach(&table, &recorder);
    std::printf("%s\n%d open, %d crossed, %d unmatched, code %d\n",
                recorder.text.c_str(), static_cast<int>(recorder.open.size()),
                static_cast<int>(health.crossed),
                static_cast<int>(health.unmatched), code);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles as ranges, reports and files as strings, control calls: each says what
// the C call of its name says.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include "cpp.h"
#if __cplusplus >= 202002L
#include <ranges>
#endif

// Records all kinds of entities, and keeps the run's profile, which alone has events.
class full : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"full",
                GNOMON_WANT_TREE | GNOMON_WANT_EVENTS | GNOMON_WANT_STEPS};
    }
    int events(gnomon::profile_view of, gnomon::report &) override
    {
        return gnomon::write(bytes, of, "gnomon");
    }
    // The profile of a run that is over.
    gnomon::profile kept() const
    {
        gnomon::profile p;
        CHECK_EQ(gnomon::read(p, bytes), GNOMON_OK);
        return p;
    }

  private:
    std::string bytes;
};

static void marks()
{
    gnomon::stage fit("fit");
    gnomon::metadata("lr", "0.5");
    for (int i = 0; i < 4; i++) {
        GNOMON_SCOPE("train_step");
        gnomon::action a("forward");
        GNOMON_MARK("moment");
        GNOMON_COUNTER("loss", i);
        std::thread(gnomon::linked("decode", [] {})).join();
        a.end();
        gnomon::step();
    }
}

// ---- Iterators ------------------------------------------------------------------

template <class Entities, class Info>
static void same_as_c(const gnomon::profile &p, const Entities &all,
                      int (*get)(const gnomon_profile *, size_t, Info *),
                      int kind)
{
    std::size_t n = 0;
    Info info;
    for (auto one : all) {
        n++;
        CHECK_EQ(one.number(), n);
        CHECK(one && one.code() == GNOMON_OK);
        CHECK_EQ(get(p.get(), n, &info), GNOMON_OK);
        CHECK(std::memcmp(&info, &*one, sizeof info) == 0);
    }
    CHECK_EQ(n, gnomon_profile_count(p.get(), kind));
    CHECK_EQ(n, all.size());
    CHECK_EQ(all.empty(), n == 0);
    CHECK(!all.number(n + 1) && !all.number(0));
}

TEST(ranges_give_what_c_gives)
{
    full f;
    gnomon::attachment here(f);
    {
        gnomon::run all;
        marks();
        gnomon::scope(GNOMON_REGION_HERE("open")).release();
    }
    gnomon::profile p = f.kept();
#define SAME(names, one, kind) \
    same_as_c(p, p.names(), gnomon_profile_##one, kind)
    SAME(runs, run, GNOMON_RUNS);
    SAME(stages, stage, GNOMON_STAGES);
    SAME(steps, step, GNOMON_STEPS);
    SAME(tracks, track, GNOMON_TRACKS);
    SAME(regions, region, GNOMON_REGIONS);
    SAME(nodes, node, GNOMON_NODES);
    SAME(opens, open, GNOMON_OPENS);
    SAME(links, link, GNOMON_LINKS);
    SAME(counters, counter, GNOMON_COUNTERS);
    SAME(metadata, metadata, GNOMON_METADATA);
    SAME(losses, loss, GNOMON_LOSSES);
    SAME(views, view, GNOMON_VIEWS);
    SAME(ops, op, GNOMON_OPS);
    SAME(events, event, GNOMON_EVENTS);
    SAME(step_times, step_time, GNOMON_STEP_TIMES);
    SAME(view_times, view_time, GNOMON_VIEW_TIMES);
    SAME(strips, strip, GNOMON_STRIPS);
    CHECK(p.events().size() > 8 && p.nodes().size() >= 3);
    CHECK(p.opens().size() == 1 && p.links().size() >= 1);
    CHECK_STR(p.opens().begin()->node().name(), "open");
}

TEST(entities_lead_to_each_other)
{
    full f;
    gnomon::attachment here(f);
    {
        gnomon::run all;
        marks();
    }
    gnomon::profile p = f.kept();
    int found = 0, moments = 0;
    for (auto n : p.nodes()) {
        if (n.path(" > ") != "train_step > forward")
            continue;
        found++;
        CHECK_EQ(n.count(), 4);
        CHECK(n.total_ns() >= n.self_ns() && n.total_ns() > 0);
        CHECK(n.quantile_ns(0.5) >= n->host->min_ns);
        CHECK_STR(n.parent().name(), "train_step");
        CHECK(!n.parent().parent());
        CHECK_STR(n.stage().name(), "fit");
        CHECK_EQ(n.stage().run()->pid, getpid());
        CHECK_EQ(n.track().run().number(), 1);
        CHECK_EQ(n.region()->kind, GNOMON_KIND_ACTION);
        CHECK(!n.op() && n.memory().empty());
        CHECK(n.parent() == p.nodes().number(n->parent));
        CHECK(n != n.parent());
    }
    CHECK_EQ(found, 1);
    for (auto e : p.events()) {
        if (e->kind == GNOMON_EVENT_MARK) {
            moments++;
            CHECK_STR(e.name(), "moment");
            CHECK_STR(e.node().name(), "forward");
        } else if (e->kind == GNOMON_EVENT_EXECUTION) {
            CHECK_STR(e.name(), e.node().name());
        }
    }
    CHECK_EQ(moments, 4);
    for (auto s : p.steps())
        CHECK_EQ(s.duration_ns(), s->end_ns - s->begin_ns);
}

TEST(memory_is_named_after_its_pool)
{
    gnomon_builder *b;
    gnomon_profile *made = nullptr;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_track_info track = {};
    track.name = "main";
    gnomon_add_track(b, &track);
    track.name = "HBM";
    track.kind = GNOMON_TRACK_POOL;
    gnomon_add_track(b, &track);
    gnomon_region_info region = {};
    region.name = "load";
    gnomon_add_region(b, &region);
    region.name = "not it";
    gnomon_add_region(b, &region);
    gnomon_event_info event = {};
    event.kind = GNOMON_EVENT_MEMORY;
    event.track = 1;
    event.region = 2;
    gnomon_add_event(b, &event);
    CHECK_EQ(gnomon_builder_finish(b, &made), GNOMON_OK);
    gnomon::profile p(made);
    const auto freed = p.events().number(1);
    CHECK_STR(freed.name(), "HBM");
    CHECK(freed.pool() && !freed.region() && !freed.node());
}

TEST(algorithms_take_the_iterators)
{
    full f;
    gnomon::attachment here(f);
    marks();
    gnomon::profile p = recorded_now("full");
    const auto nodes = p.nodes();
    using node = gnomon::recorded::node;
    const auto is_forward = [](const node &n) {
        return std::string(n.name()) == "forward";
    };
    CHECK_EQ(std::count_if(nodes.begin(), nodes.end(), is_forward), 1);
    const auto at = std::find_if(nodes.begin(), nodes.end(), is_forward);
    CHECK_EQ(at->count(), 4);
    const std::vector<node> kept(nodes.begin(), nodes.end());
    CHECK_EQ(kept.size(), nodes.size());
    auto i = nodes.begin();
    CHECK((*i++).number() == 1 && (*++i).number() == 3);
    CHECK(i[-1].number() == 2 && (i - 2) == nodes.begin());
    CHECK(nodes.begin() < i && i >= nodes.begin() + 2 && i - 1 != i);
    CHECK_EQ(nodes.end() - nodes.begin(), nodes.size());
#if __cplusplus >= 202002L
    static_assert(std::ranges::random_access_range<decltype(nodes)>);
    static_assert(std::ranges::sized_range<decltype(nodes)>);
    CHECK_EQ(std::ranges::count_if(nodes, is_forward), 1);
#endif
}

// A later release's struct is larger; its items lie further apart.
TEST(lists_step_by_the_size_of_their_items)
{
    struct {
        gnomon_attribute a;
        long more;
    } items[2] = {};
    items[0].a.struct_size = sizeof items[0];
    items[0].a.key = "first";
    items[1].a.key = "second";
    gnomon::list<gnomon_attribute> all(&items[0].a, 2), none(nullptr, 0);
    std::string keys;
    for (const auto &a : all)
        keys += a.key;
    CHECK_STR(keys.c_str(), "firstsecond");
    CHECK_STR(all[1].key, "second");
    CHECK(none.begin() == none.end() && none.empty() && all.size() == 2);
}

TEST(no_profile_has_empty_ranges)
{
    gnomon::profile p;
    gnomon::profile_view v;
    CHECK(!p && !v && p.nodes().empty());
    for (auto n : v.nodes())
        CHECK(n.number() == 0);
    CHECK_EQ(gnomon::snapshot(p, "nobody"), GNOMON_ENOENT);
    CHECK(!p);
}

TEST(profiles_are_moved)
{
    full f;
    gnomon::attachment here(f);
    marks();
    gnomon::profile first = recorded_now("full");
    gnomon::profile p(std::move(first)), other;
    CHECK(!first && first.nodes().empty());
    other = std::move(p);
    CHECK_EQ(count_at(other, "train_step"), 4);
}

TEST(rows_add_up_paths)
{
    full f;
    gnomon::attachment here(f);
    marks();
    gnomon::profile p = recorded_now("full");
    gnomon::rows all(p), wrong(p, 99);
    CHECK_EQ(all.code(), GNOMON_OK);
    CHECK_EQ(wrong.code(), GNOMON_EINVAL);
    CHECK(wrong.all().empty());
    std::string names;
    for (const auto &row : all.all())
        names += std::string(row.name) + std::to_string(row.host->count) + " ";
    CHECK_STR(names.c_str(), "decode4 forward4 train_step4 ");
}

// ---- Texts ----------------------------------------------------------------------

TEST(a_report_is_a_string)
{
    CHECK_EQ(gnomon::configure("simple,file=/dev/null"), GNOMON_OK);
    {
        GNOMON_SCOPE("train_step");
    }
    std::string text("old"), again;
    CHECK_EQ(gnomon::summary(text, "simple"), GNOMON_OK);
    CHECK_EQ(text.find("Profiler Report"), 0);
    CHECK(text.find("|  train_step") != std::string::npos);
    CHECK_EQ(gnomon::summary(text, std::string("simpel")), GNOMON_ENOENT);
    CHECK_STR(text.c_str(), "");
    CHECK_EQ(gnomon::configure(""), GNOMON_OK);
}

TEST(profiles_are_written_and_read)
{
    full f;
    gnomon::attachment here(f);
    marks();
    const gnomon::profile p = recorded_now("full");
    std::string bytes, again, json;
    CHECK_EQ(gnomon::write(bytes, p, "gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon::write(json, p, "json"), GNOMON_OK);
    CHECK_EQ(gnomon::write(again, gnomon::profile_view(), "gnomon"),
             GNOMON_EINVAL);
    gnomon::profile back;
    CHECK_EQ(gnomon::read(back, bytes), GNOMON_OK);
    CHECK_EQ(gnomon::write(again, back, "gnomon"), GNOMON_OK);
    CHECK(again == bytes && json[0] == '{');
    CHECK_EQ(gnomon::read(back, "no file"), GNOMON_EINVAL);
    CHECK(!back);

    char name[] = "/tmp/gnomon_cpp_XXXXXX";
    const int fd = mkstemp(name);
    CHECK_EQ(::write(fd, bytes.data(), bytes.size()), bytes.size());
    close(fd);
    CHECK_EQ(gnomon::load(back, name), GNOMON_OK);
    CHECK_EQ(count_at(back, "train_step"), 4);
    unlink(name);
    CHECK_EQ(gnomon::load(back, name), GNOMON_ENOENT);
}

// ---- Control calls ----------------------------------------------------------------

TEST(what_is_attached_is_a_spec)
{
    CHECK_STR(gnomon::spec().c_str(), "");
    CHECK_EQ(gnomon::configure(std::string("simple(filter=opt*)")), GNOMON_OK);
    const std::string all = gnomon::spec();
    char same[4096];
    CHECK_EQ(gnomon_spec(same, sizeof same), all.size());
    CHECK_STR(all.c_str(), same);
    CHECK_EQ(gnomon::configure(all), GNOMON_OK);
    CHECK_STR(gnomon::spec().c_str(), same);
    CHECK_EQ(gnomon::configure(""), GNOMON_OK);
}

TEST(stages_end_with_their_block)
{
    full f;
    gnomon::attachment here(f);
    {
        gnomon::run all;
        CHECK_EQ(all.code(), GNOMON_OK);
        gnomon::stage fit("fit");
        CHECK_EQ(fit.code(), GNOMON_OK);
        GNOMON_SCOPE("a");
    }
    gnomon::stage test("test");
    CHECK_EQ(test.end(), GNOMON_OK);
    CHECK_EQ(test.end(), GNOMON_ESTATE); // it was not ended twice
    gnomon_setup_options wrong = gnomon::setup_options();
    wrong.has_rank = 1;
    wrong.rank = 4;
    wrong.world_size = 2;
    gnomon::run bad(wrong);
    CHECK_EQ(bad.code(), GNOMON_EINVAL);
}

TEST(errors_are_codes_unless_they_are_asked_for)
{
    const int code = gnomon::configure("simpel");
    CHECK_EQ(code, GNOMON_EINVAL);
    CHECK_EQ(gnomon::check(GNOMON_OK), GNOMON_OK);
#if GNOMON__THROWS
    try {
        gnomon::check(gnomon::configure("simpel"));
        CHECK(false);
    } catch (const gnomon::error &e) {
        CHECK_EQ(e.code(), GNOMON_EINVAL);
        CHECK(std::strstr(e.what(), "GNOMON_EINVAL: gnomon_attach: unknown "
                                    "profiler 'simpel'"));
    }
#else
    CHECK_EQ(gnomon::check(code), code);
#endif
}

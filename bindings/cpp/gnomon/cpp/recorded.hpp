// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a profile is made of, one by one: recorded::node and its like. Included by
// profile.hpp, whose ranges give them.
//
//     for (auto n : profile.nodes())
//         std::cout << n.path() << ": " << n.count() << '\n';
//
// Each holds a copy of the C struct, `n->flags` reads a field of it, and methods
// lead to what the fields name by number. Numbers, units and texts are those of
// gnomon/profile.h. What they hand out is the profile's, and lives as long as it.
#ifndef GNOMON_CPP_RECORDED_HPP
#define GNOMON_CPP_RECORDED_HPP

#include <gnomon/profile.h>

#include "base.hpp"
#include "list.hpp"

GNOMON__CPP_BEGIN

namespace recorded
{

// One entity of a kind (gnomon_entity).
template <class Info, int Kind> class entity
{
  public:
    // Entity `number` of a profile, from 1. None, all zero, where there is no such
    // number, or where an event of a file cannot be read any more.
    entity(const gnomon_profile *of, std::size_t number)
        : of_(of), number_(number), info_(), code_(GNOMON_EINVAL)
    {
        info_.struct_size = sizeof info_;
        if (of)
            code_ = of->api->get(of, Kind, number, &info_);
    }
    // Whether there is one: a node's parent(), say.
    explicit operator bool() const
    {
        return code_ == GNOMON_OK;
    }
    // GNOMON_OK, or why there is none.
    int code() const
    {
        return code_;
    }
    std::size_t number() const
    {
        return number_;
    }
    const Info &operator*() const
    {
        return info_;
    }
    const Info *operator->() const
    {
        return &info_;
    }
    const gnomon_profile *profile() const
    {
        return of_;
    }
    static constexpr int kind()
    {
        return Kind;
    }
    friend bool operator==(const entity &a, const entity &b)
    {
        return a.of_ == b.of_ && a.number_ == b.number_;
    }
    friend bool operator!=(const entity &a, const entity &b)
    {
        return !(a == b);
    }

  protected:
    // A text that is none where the entity is.
    static const char *text_of(const char *of)
    {
        return of ? of : "";
    }

  private:
    const gnomon_profile *of_;
    std::size_t number_;
    Info info_;
    int code_;
};

// Methods of the name of a field: the entity whose number it is, or its text.
#define GNOMON__LEADS_TO(Class, field) \
    recorded::Class field() const \
    { \
        return recorded::Class(profile(), (*this)->field); \
    }
#define GNOMON__TEXT(field) \
    const char *field() const \
    { \
        return text_of((*this)->field); \
    }

class run : public entity<gnomon_run_info, GNOMON_RUNS>
{
  public:
    using entity::entity;

    list<gnomon_clock_anchor> anchors() const
    {
        return list<gnomon_clock_anchor>((*this)->anchors,
                                         (*this)->anchor_count);
    }
};

class stage : public entity<gnomon_stage_info, GNOMON_STAGES>
{
  public:
    using entity::entity;

    GNOMON__TEXT(name)
    GNOMON__LEADS_TO(run, run)
};

class step : public entity<gnomon_step_info, GNOMON_STEPS>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(stage, stage)
    // 0: it is not over.
    std::uint64_t duration_ns() const
    {
        return (*this)->end_ns ? (*this)->end_ns - (*this)->begin_ns : 0;
    }
};

class track : public entity<gnomon_track_info, GNOMON_TRACKS>
{
  public:
    using entity::entity;

    GNOMON__TEXT(name)
    GNOMON__LEADS_TO(run, run)
};

class region : public entity<gnomon_region_info, GNOMON_REGIONS>
{
  public:
    using entity::entity;

    GNOMON__TEXT(name)
    GNOMON__TEXT(category)
};

class op : public entity<gnomon_op_info, GNOMON_OPS>
{
  public:
    using entity::entity;

    GNOMON__TEXT(operation)
    list<gnomon_tensor> inputs() const
    {
        return list<gnomon_tensor>((*this)->inputs, (*this)->input_count);
    }
    list<gnomon_attribute> attributes() const
    {
        return list<gnomon_attribute>((*this)->attributes,
                                      (*this)->attribute_count);
    }
};

class view : public entity<gnomon_view_info, GNOMON_VIEWS>
{
  public:
    using entity::entity;

    GNOMON__TEXT(words)
};

// A path of the call tree.
class node : public entity<gnomon_node_info, GNOMON_NODES>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(region, region)
    // Its region's.
    const char *name() const
    {
        return region().name();
    }
    // None where it is outermost.
    GNOMON__LEADS_TO(node, parent)
    GNOMON__LEADS_TO(track, track)
    GNOMON__LEADS_TO(stage, stage)
    GNOMON__LEADS_TO(op, op)
    GNOMON__LEADS_TO(view, view)
    // All names from the outermost path down to this: "train_step/forward".
    std::string path(const char *between = "/") const
    {
        std::string all = name();
        for (node up = parent(); up; up = up.parent())
            all = std::string(up.name()) + between + all;
        return all;
    }
    // On the host; all 0 where no times were recorded, which (*this)->host tells.
    std::uint64_t count() const
    {
        return (*this)->host ? (*this)->host->count : 0;
    }
    std::uint64_t total_ns() const
    {
        return (*this)->host ? (*this)->host->total_ns : 0;
    }
    std::uint64_t self_ns() const
    {
        return (*this)->host ? (*this)->host->self_ns : 0;
    }
    // gnomon_quantile_ns: 0.5 is the median.
    std::uint64_t quantile_ns(double q) const
    {
        return (*this)->host ? gnomon_quantile_ns((*this)->host, q) : 0;
    }
    list<gnomon_memory_stats> memory() const
    {
        return list<gnomon_memory_stats>((*this)->memory,
                                         (*this)->memory_count);
    }
};

class open : public entity<gnomon_open_info, GNOMON_OPENS>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(track, track)
    GNOMON__LEADS_TO(node, node)
};

// That one path caused another.
class link : public entity<gnomon_link_info, GNOMON_LINKS>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(node, from)
    GNOMON__LEADS_TO(node, to)
    std::uint64_t count() const
    {
        return (*this)->count;
    }
};

class counter : public entity<gnomon_counter_info, GNOMON_COUNTERS>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(track, track)
    GNOMON__LEADS_TO(region, region)
    GNOMON__LEADS_TO(stage, stage)
    // Its region's.
    const char *name() const
    {
        return region().name();
    }
};

// A single execution or moment.
class event : public entity<gnomon_event_info, GNOMON_EVENTS>
{
  public:
    using entity::entity;

    // Of an execution its own; else the one around it, or none.
    GNOMON__LEADS_TO(node, node)
    GNOMON__LEADS_TO(track, track)
    // What was executed, marked or counted; none of memory.
    recorded::region region() const
    {
        return recorded::region(
            profile(),
            (*this)->kind == GNOMON_EVENT_EXECUTION ? (*node()).region
            : (*this)->kind == GNOMON_EVENT_MEMORY  ? 0
                                                    : (*this)->region);
    }
    // The track that memory is of; else none.
    recorded::track pool() const
    {
        return recorded::track(profile(), (*this)->kind == GNOMON_EVENT_MEMORY
                                              ? (*this)->region
                                              : 0);
    }
    // Of one of these two.
    const char *name() const
    {
        return (*this)->kind == GNOMON_EVENT_MEMORY ? pool().name()
                                                    : region().name();
    }
};

class metadata : public entity<gnomon_metadata_info, GNOMON_METADATA>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(run, run)
    GNOMON__TEXT(key)
    GNOMON__TEXT(json)
};

class loss : public entity<gnomon_loss_info, GNOMON_LOSSES>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(track, track)
    GNOMON__LEADS_TO(run, run)
};

class step_time : public entity<gnomon_step_time_info, GNOMON_STEP_TIMES>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(stage, stage)
    GNOMON__LEADS_TO(view, view)
    GNOMON__LEADS_TO(step, step)
    GNOMON__LEADS_TO(region, region)
};

class view_time : public entity<gnomon_view_time_info, GNOMON_VIEW_TIMES>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(stage, stage)
    GNOMON__LEADS_TO(view, view)
};

// Steps of a stage, or what a counter was in them, in few bins.
class strip : public entity<gnomon_strip_info, GNOMON_STRIPS>
{
  public:
    using entity::entity;

    GNOMON__LEADS_TO(stage, stage)
    GNOMON__LEADS_TO(track, track)
    GNOMON__LEADS_TO(region, region)
    list<gnomon_bin> bins() const
    {
        return list<gnomon_bin>((*this)->bins, (*this)->bin_count);
    }
    list<gnomon_slow_step> slow() const
    {
        return list<gnomon_slow_step>((*this)->slow, (*this)->slow_count);
    }
};

#undef GNOMON__LEADS_TO
#undef GNOMON__TEXT

} // namespace recorded

GNOMON__CPP_END

#endif

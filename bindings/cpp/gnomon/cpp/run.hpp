// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The run: control calls, for the framework rather than for each hook. Each returns
// GNOMON_OK or an error, as the C call of its name in gnomon.h, which has the
// threads and the errors. check() makes an exception of an error.
#ifndef GNOMON_CPP_RUN_HPP
#define GNOMON_CPP_RUN_HPP

#include "base.hpp"

GNOMON__CPP_BEGIN

// gnomon_attach: attaches what the spec says, as $GNOMON does.
inline int configure(text spec)
{
    return GNOMON__CPP_HOST(configure(spec.data(), spec.length()),
                            !spec.data() || !spec.length() || !*spec.data()
                                ? GNOMON_OK
                                : GNOMON_ESTATE);
}

// gnomon_spec: what is attached, as a spec; "" where nothing is.
inline std::string spec()
{
    std::string all(gnomon_spec(nullptr, 0), '\0');
    if (!all.empty()) {
        // One byte more: the call writes the final NUL too.
        all.resize(all.size() + 1);
        const std::size_t length = gnomon_spec(&all[0], all.size());
        all.resize(length < all.size() ? length : all.size() - 1);
    }
    return all;
}

// gnomon_metadata: `json` is one JSON value.
inline int metadata(text key, text json)
{
    return GNOMON__CPP_HOST(
        metadata(key.data(), key.length(), json.data(), json.length()),
        GNOMON_OK);
}

// gnomon_health_get.
inline gnomon_health health()
{
    gnomon_health counts = gnomon_health();
    counts.struct_size = sizeof counts;
    gnomon_health_get(&counts);
    return counts;
}

// Options for setup, with struct_size set and all else 0.
inline gnomon_setup_options setup_options()
{
    gnomon_setup_options none = gnomon_setup_options();
    none.struct_size = sizeof none;
    return none;
}

// A setup, and its teardown where the object is destroyed.
class run
{
  public:
    run() : code_(gnomon_setup(nullptr))
    {
    }
    explicit run(const gnomon_setup_options &options)
        : code_(gnomon_setup(&options))
    {
    }
    ~run()
    {
        gnomon_teardown();
    }
    run(const run &) = delete;
    run &operator=(const run &) = delete;

    // What the setup returned. The run goes on, also with an error.
    int code() const
    {
        return code_;
    }

  private:
    int code_;
};

// A stage, "fit" or the like, which ends where the object is destroyed. Stages do
// not nest: one that begins ends the one before.
class stage
{
  public:
    explicit stage(text name)
        : code_(GNOMON__CPP_HOST(stage_begin(name.data(), name.length()),
                                 GNOMON_OK))
    {
    }
    ~stage()
    {
        end();
    }
    stage(const stage &) = delete;
    stage &operator=(const stage &) = delete;

    // What its begin returned.
    int code() const
    {
        return code_;
    }
    // Ends it now and writes the reports that are due. Once more does nothing.
    int end()
    {
        const int code = code_ ? code_ : gnomon_stage_end();
        code_ = GNOMON_ESTATE;
        return code;
    }

  private:
    int code_;
};

GNOMON__CPP_END

#endif

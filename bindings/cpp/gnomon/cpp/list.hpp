// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists inside the C structs, as ranges. Included by recorded.hpp.
#ifndef GNOMON_CPP_LIST_HPP
#define GNOMON_CPP_LIST_HPP

#include <iterator>

#include "base.hpp"

GNOMON__CPP_BEGIN

// A list inside a struct, as a node's memory. Its items may be larger than this
// header's struct: they lie as far apart as the first one's struct_size says.
template <class Item> class list
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = const Item *;
        using reference = const Item &;

        iterator() : list_(nullptr), i_(0)
        {
        }
        iterator(const list *of, std::size_t i) : list_(of->first_), i_(i)
        {
        }
        const Item &operator*() const
        {
            return *item(list_, i_);
        }
        const Item *operator->() const
        {
            return item(list_, i_);
        }
        iterator &operator++()
        {
            i_++;
            return *this;
        }
        iterator operator++(int)
        {
            iterator old = *this;
            i_++;
            return old;
        }
        friend bool operator==(const iterator &a, const iterator &b)
        {
            return a.i_ == b.i_;
        }
        friend bool operator!=(const iterator &a, const iterator &b)
        {
            return a.i_ != b.i_;
        }

      private:
        const Item *list_;
        std::size_t i_;
    };

    list(const Item *first, std::size_t count) : first_(first), count_(count)
    {
    }
    iterator begin() const
    {
        return iterator(this, 0);
    }
    iterator end() const
    {
        return iterator(this, count_);
    }
    std::size_t size() const
    {
        return count_;
    }
    bool empty() const
    {
        return count_ == 0;
    }
    // From 0 to size() - 1, which is not checked.
    const Item &operator[](std::size_t i) const
    {
        return *item(first_, i);
    }

  private:
    static const Item *item(const Item *first, std::size_t i)
    {
        const void *start = first;
        const void *at =
            static_cast<const char *>(start) + i * first->struct_size;
        return static_cast<const Item *>(at);
    }

    const Item *first_;
    std::size_t count_;
};

GNOMON__CPP_END

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C++ program, whose operator new takes memory from malloc, before main and after it.
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "gnomon.h"

namespace
{
struct block {
    explicit block(std::size_t bytes) : at(::operator new(bytes))
    {
    }
    block(const block &) = delete;
    block &operator=(const block &) = delete;
    ~block()
    {
        ::operator delete(at);
    }
    void *at;
};
block outside(99);
} // namespace

int main()
{
    std::thread([] { block b(3); }).join();
    try {
        GNOMON_SCOPE("new");
        block b(1234);
        throw 1;
    } catch (int) {
    }
    GNOMON_SCOPE("hold");
    static block last(555);
    return last.at == nullptr;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>
#include <gnomon.h>
#include <gnomon.hpp>
#include <iostream>

template <class T> static T twice(T value)
{
    GNOMON_SCOPE("consumer_step");
    return value + value;
}

int main()
{
    gnomon::scope all(GNOMON_REGION_HERE("consumer_run"));
    int four = twice(2);
    std::cout << "gnomon " << gnomon_version() << '\n';
    return four == 4 && !std::strcmp(gnomon_version(), GNOMON_VERSION) ? 0 : 1;
}

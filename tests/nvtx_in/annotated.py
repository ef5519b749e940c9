# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program without gnomon, annotated with the package nvtx."""
import threading

import nvtx

mine = nvtx.get_domain("mine")


@nvtx.annotate("decorated", color="blue")
def step(number):
    with nvtx.annotate("inside", domain="mine", category="io",
                       payload=number):
        pass


def work():
    for number in range(100):
        step(number)
    nvtx.mark("mark")
    nvtx.mark("in mine", domain="mine", category="io", payload=1.5)


running = nvtx.start_range("running", domain="mine")
nvtx.push_range("outer")
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
work()
nvtx.pop_range()
nvtx.end_range(running)
attributes = mine.get_event_attributes("attributes", category="other")
for _ in range(3):
    mine.push_range(attributes)
    mine.pop_range()
for number in range(200):  # a text each, which the package registers
    with nvtx.annotate(f"epoch {number}", domain="counted"):
        pass

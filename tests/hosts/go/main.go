// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A Go program with gnomon inside. Its goroutines move between threads, signal handlers
// run on stacks of Go (for preemption, and for its CPU profiler at 100 Hz), and its heap
// is garbage-collected meanwhile. A Go program ends without exit handlers, so it calls
// gnomon_teardown.
package main

/*
#include <gnomon.h>

static void full_call(int depth)
{
	GNOMON_SCOPE("whole call");
	if (depth)
		full_call(depth - 1);
}
static gnomon_token begin_wandering(void)
{
	GNOMON_REGION(region, "wandering", NULL);
	return gnomon_begin(&region);
}
static void end_alone(gnomon_token token) { gnomon_end_alone(token); }
static gnomon_range begin_range(void)
{
	GNOMON_REGION(region, "range", NULL);
	return gnomon_range_begin(&region);
}
static void end_range(gnomon_range range) { gnomon_range_end(range); }
static void by_name(const char *name, size_t length)
{
	gnomon_start_n(name, length);
	gnomon_stop_n(name, length);
}
static int set_up(void) { return gnomon_setup(NULL); }
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"unsafe"
)

const workers, rounds = 16, 2000

func work(all *sync.WaitGroup, handed chan C.gnomon_range) {
	defer all.Done()
	name := []byte("by name")
	for i := 0; i < rounds; i++ {
		token := C.begin_wandering()
		C.full_call(2)
		handed <- C.begin_range()
		runtime.Gosched() // may continue on another thread
		C.by_name((*C.char)(unsafe.Pointer(&name[0])), C.size_t(len(name)))
		C.end_range(<-handed)
		C.end_alone(token)
		_ = make([]byte, 1024)
	}
}

func main() {
	if code := C.set_up(); code != 0 {
		fmt.Println("setup:", code)
		os.Exit(1)
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	handed := make(chan C.gnomon_range, workers)
	var all sync.WaitGroup
	for i := 0; i < workers; i++ {
		all.Add(1)
		go work(&all, handed)
	}
	all.Wait()
	runtime.GC()
	pprof.StopCPUProfile()
	C.gnomon_teardown()
	fmt.Println("done")
}

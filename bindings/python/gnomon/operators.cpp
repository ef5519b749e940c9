// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// torch's operators as scopes of gnomon, for watch(operators=True). Compiled against the
// torch that is installed, by `python -m gnomon.torch build`, and never at import.
//
// Shapes and types are those that torch.profiler shows with record_shapes. Labels are none
// of them: torch.py marks Python's.
#include "operators.h"

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/ScalarType.h>
#ifdef GNOMON_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char gnomon_operators_torch[] = GNOMON_TORCH;

namespace
{

const gnomon_operator_calls *calls;

// ---- Regions by name

// Names of operators stay where they are, and those of backward often come back there; so
// a name is found by its address, and then compared.
struct known {
    const char *at;
    gnomon_region *region;
    std::string name;
    bool has_attributes; // that its flops need: a convolution's, a pool's
};

const known &known_of(const char *name)
{
    static thread_local known names[512];
    known &one = names[(reinterpret_cast<uintptr_t>(name) >> 4) % 512];
    if (one.at != name || one.name != name) {
        one.region = calls->region(name);
        one.name = name;
        one.at = name;
        one.has_attributes = strstr(name, "conv") || strstr(name, "pool");
    }
    return one;
}

// ---- What an operator is given

struct given {
    gnomon_tensor inputs[64];
    gnomon_attribute attributes[16];
    std::string json[16], keys[16];
    gnomon_op_info op;
};

std::string type_names[static_cast<size_t>(c10::ScalarType::NumOptions)];

void name_types()
{
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        try {
            auto type = static_cast<c10::ScalarType>(i);
            type_names[i] = std::string(c10::scalarTypeToTypeMeta(type).name());
        } catch (...) { // one that has no elements
        }
}

bool is_scalar_list(const c10::IValue &value)
{
    if (!value.isList())
        return false;
    auto list = value.toListRef();
    return list.empty() || (list[0].isScalar() && list.size() <= 30);
}

void read_input(const c10::IValue &value, gnomon_tensor *to)
{
    *to = {sizeof *to, 0, "", nullptr, nullptr};
    if (value.isTensor()) {
        const at::Tensor &t = value.toTensor();
        if (!t.defined() || t.is_nested() ||
            t.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
            return;
        to->dtype = type_names[static_cast<size_t>(t.scalar_type())].c_str();
        to->dims = t.sizes().data();
        to->rank = static_cast<uint32_t>(t.sizes().size());
    } else if (value.isScalar()) {
        to->dtype = "Scalar";
    } else if (value.isTensorList()) {
        to->dtype = "TensorList";
    } else if (is_scalar_list(value)) {
        to->dtype = "ScalarList";
    }
}

std::string json_of(const c10::IValue &value)
{
    if (value.isBool())
        return value.toBool() ? "true" : "false";
    if (value.isInt())
        return std::to_string(value.toInt());
    if (!value.isIntList())
        return "";
    std::string text = "[";
    for (const auto &item : value.toListRef())
        text += (text.size() > 1 ? "," : "") + json_of(item);
    return text + "]";
}

// A schema is a copy: all others do without.
void read_attributes(const at::RecordFunction &fn, given &g)
{
    const auto schema = fn.operator_schema();
    if (!schema)
        return;
    const auto values = fn.inputs();
    const auto &names = schema->arguments();
    for (size_t i = 0; i < values.size() && i < names.size(); i++) {
        const size_t n = g.op.attribute_count;
        if (n == 16 || (g.json[n] = json_of(values[i])).empty())
            continue;
        g.keys[n] = names[i].name();
        g.attributes[n] = {sizeof *g.attributes, 0, g.keys[n].c_str(),
                           g.json[n].c_str()};
        g.op.attribute_count++;
    }
    g.op.attributes = g.attributes;
}

void read_inputs(const at::RecordFunction &fn, const known &its, given &g)
{
    g.op = {};
    g.op.struct_size = sizeof g.op;
    g.op.operation = its.name.c_str();
    g.op.inputs = g.inputs;
    for (const auto &value : fn.inputs()) {
        if (g.op.input_count == 64)
            break;
        read_input(value, &g.inputs[g.op.input_count++]);
    }
    if (its.has_attributes)
        read_attributes(fn, g);
}

// ---- The callbacks

struct opened : at::ObserverContext {
    explicit opened(const gnomon_operator &of) : of(of)
    {
    }
    gnomon_operator of;
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &fn)
{
    static thread_local given g;
    if (!calls->is_on())
        return nullptr;
    const bool is_backward = fn.scope() == at::RecordScope::BACKWARD_FUNCTION;
    const known &its = known_of(fn.name());
    read_inputs(fn, its, g);
    if (is_backward) // and not what that runs: a product is one product there too
        g.op.flags = GNOMON_OP_BACKWARD;
    const gnomon_operator open = calls->begin(its.region, &g.op);
    if (!open.token)
        return nullptr;
    const uint64_t number = static_cast<uint64_t>(fn.seqNr());
    if (fn.seqNr() >= 0 && is_backward)
        calls->backward(fn.forwardThreadId(), number);
    else if (fn.seqNr() >= 0 && !fn.forwardThreadId())
        calls->forward(fn.threadId(), number);
    return std::make_unique<opened>(open);
}

void end(const at::RecordFunction &, at::ObserverContext *context)
{
    if (context)
        calls->end(&static_cast<opened *>(context)->of);
}

} // namespace

// The handle of the callback, for the call below.
EXPORT uint64_t gnomon_operators_start(const gnomon_operator_calls *given)
{
    if (!calls)
        name_types();
    calls = given;
    return at::addGlobalCallback(
        at::RecordFunctionCallback(begin, end)
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION,
                     at::RecordScope::BACKWARD_FUNCTION,
                     at::RecordScope::TORCHSCRIPT_FUNCTION}));
}

EXPORT void gnomon_operators_stop(uint64_t handle)
{
    at::removeCallback(handle);
}

// ---- Memory of CUDA (not run on a GPU)

#ifdef GNOMON_CUDA
namespace
{

namespace cuda = c10::cuda::CUDACachingAllocator;

// One for each device, made before the allocator calls us: then we take no lock.
struct pool {
    gnomon_region *region;
    std::atomic<uint64_t> reserved;
};
pool pools[64];
size_t pool_count;

// The allocator holds its lock. As torch.profiler, a block is free when that is asked for;
// its size is what was asked for, where torch.profiler's is that of the block.
void traced(const cuda::TraceEntry &entry)
{
    const size_t device = static_cast<size_t>(entry.device_);
    if (device >= pool_count)
        return;
    pool &its = pools[device];
    const void *pointer = reinterpret_cast<const void *>(entry.addr_);
    switch (entry.action_) {
    case cuda::TraceEntry::ALLOC:
        return calls->allocated(its.region, pointer, entry.size_);
    case cuda::TraceEntry::FREE_REQUESTED:
        return calls->freed(its.region, pointer);
    case cuda::TraceEntry::SEGMENT_ALLOC:
    case cuda::TraceEntry::SEGMENT_MAP:
        return calls->reserved(its.region, its.reserved += entry.size_);
    case cuda::TraceEntry::SEGMENT_FREE:
    case cuda::TraceEntry::SEGMENT_UNMAP:
        return calls->reserved(its.region, its.reserved -= entry.size_);
    default:
        return;
    }
}

void exhausted(int64_t device, size_t bytes, size_t, size_t)
{
    if (device >= 0 && static_cast<size_t>(device) < pool_count)
        calls->exhausted(pools[device].region, bytes);
}

} // namespace

// Once in a process, after CUDA was started: torch has no call that takes them back. They
// are marks, so they do nothing where nobody records memory. Returns why it does not, as
// another allocator than torch's own refuses them.
EXPORT const char *gnomon_operators_cuda(const uint64_t *reserved, size_t count)
{
    static std::string why;
    for (; pool_count < count && pool_count < 64; pool_count++) {
        const std::string name = "cuda:" + std::to_string(pool_count);
        pools[pool_count].region = calls->pool(name.c_str());
        pools[pool_count].reserved = reserved[pool_count];
    }
    try {
        cuda::attachAllocatorTraceTracker(traced);
        cuda::attachOutOfMemoryObserver(exhausted);
    } catch (
        const std::exception &error) { // it would end the process in ctypes
        why = error.what();
        return why.c_str();
    }
    return nullptr;
}
#endif

#include "testing/plan_memory.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"

namespace kiln {
namespace {

// Calls visit(position, address) for each element of a buffer: its position in row-major order of the logical
// shape, and where the layout puts it.
template <typename Visit>
void EachElement(const Program& p, Id id, const Visit& visit) {
  const Buffer& buffer = p.buffers[id];
  const auto shape = p.Dims(buffer.shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t position = 0; position < ElementsOf(p, id); ++position) {
    int64_t rest = position, address = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d].Known()) index[d] = rest % shape[d].Known();
    for (const Id axis : p.List(buffer.layout.axes))
      address = address * p.marks[axis].extent.Known() +
                Evaluate(p.SumOf(axis), [&](Source source) { return index[source.id]; });
    visit(position, buffer.layout.axes.count == 0 ? position : Swizzled(buffer.layout.swizzle, address));
  }
}

}  // namespace

PlanMemory::PlanMemory(const Program& program, const IndexPlan& plan)
    : p_(program), plan_(plan), memories_(program.buffers.size()) {}

PlanMemory::Memory& PlanMemory::MemoryAt(Id buffer, int64_t at) {
  Memory& memory = memories_[plan_.MemoryOf(buffer)];
  const auto name = p_.Text(p_.buffers[buffer].name);
  if (at < 0 || at >= std::ssize(memory.values)) Fail("element ", at, " of ", name, " is out of bounds");
  if (memory.delayed.contains(at))
    Fail("element ", at, " of ", name, " is used before the flush that stores it");
  return memory;
}

Scalar PlanMemory::Load(Id buffer, int64_t at) {
  const Memory& memory = MemoryAt(buffer, at);
  if (memory.writers[at] != buffer)
    Fail("element ", at, " of ", p_.Text(p_.buffers[buffer].name), " is read before it is written");
  return memory.values[at];
}

void PlanMemory::Store(Id buffer, int64_t at, Scalar value) {
  Memory& memory = MemoryAt(buffer, at);
  memory.writers[at] = buffer;
  memory.values[at] = value;
}

void PlanMemory::Delay(int flush, Id buffer, int64_t at, Scalar value) {
  MemoryAt(buffer, at).delayed.insert(at);
  delayed_.push_back({flush, buffer, at, value});
}

void PlanMemory::Flush(int number) {
  for (const Delayed& store : delayed_) {
    if (store.flush != number) continue;
    memories_[plan_.MemoryOf(store.buffer)].delayed.erase(store.at);
    Store(store.buffer, store.at, store.value);
  }
  std::erase_if(delayed_, [&](const Delayed& store) { return store.flush == number; });
}

void PlanMemory::BeginIteration() {
  for (size_t b = 0; b < memories_.size(); ++b) {
    if (plan_.buffers[b].per_iteration) absl::c_fill(memories_[b].writers, kNone);
  }
}

void PlanMemory::SetInputs(absl::Span<const std::string> inputs) {
  size_t next = 0;
  for (size_t b = 0; b < p_.buffers.size(); ++b) {
    const Id id = static_cast<Id>(b);
    const Id memory = plan_.MemoryOf(id);
    const int64_t elements = plan_.buffers[b].used() ? plan_.buffers[b].elements : LayoutElements(p_, id);
    if (elements > std::ssize(memories_[memory].values)) {
      memories_[memory].values.resize(elements, {.i = INT64_C(0x5A5A5A5A)});
      memories_[memory].writers.resize(elements, kNone);
    }
  }
  const auto fill = [&](Id id, const std::string& bytes) {
    Memory& memory = memories_[id];
    const Buffer& buffer = p_.buffers[id];
    if (static_cast<int64_t>(bytes.size()) != BytesOf(p_, id))
      Fail("input ", p_.Text(buffer.name), " has a wrong size");
    absl::c_fill(memory.writers, id);
    if (buffer.layout.padding != kNone)
      absl::c_fill(memory.values, ConstantValue(p_.exprs[buffer.layout.padding]));
    EachElement(p_, id, [&](int64_t position, int64_t address) {
      memory.values[address] = LoadScalar(buffer.dtype, bytes.data() + position * SizeOf(buffer.dtype));
    });
  };
  for (const Id id : p_.parameters)
    if (p_.buffers[id].role != Role::kOutput) fill(id, inputs.at(next++));
  for (size_t b = 0; b < p_.buffers.size(); ++b)
    if (p_.buffers[b].data != kNone) fill(static_cast<Id>(b), (*p_.constants)[p_.buffers[b].data]);
}

std::vector<std::string> PlanMemory::Outputs() const {
  std::vector<std::string> outputs;
  for (const Id id : p_.parameters) {
    const Buffer& buffer = p_.buffers[id];
    if (buffer.role != Role::kOutput) continue;
    std::string& bytes = outputs.emplace_back(BytesOf(p_, id), '\xA5');
    EachElement(p_, id, [&](int64_t position, int64_t address) {
      if (memories_[id].writers[address] != kNone)
        StoreScalar(buffer.dtype, memories_[id].values[address],
                    bytes.data() + position * SizeOf(buffer.dtype));
    });
  }
  return outputs;
}

}  // namespace kiln

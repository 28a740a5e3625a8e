#include "testing/plan_memory.h"

#include "absl/strings/str_cat.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "testing/plan_fault.h"

namespace kiln {
namespace {

// Calls visit(position, address) for each element of a buffer: its position in row-major order of the logical
// shape, and where the layout puts it.
template <typename Visit>
void EachElement(const Program& p, Id id, const Visit& visit) {
  const Buffer& buffer = p.buffers[id];
  const auto shape = p.Dims(buffer.shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t position = 0; position < kiln::ElementsOf(p, id); ++position) {
    int64_t rest = position, address = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d].Known()) index[d] = rest % shape[d].Known();
    for (const Id axis : p.List(buffer.layout.axes))
      address = address * p.marks[axis].extent.Known() +
                Evaluate(p.SumOf(axis), [&](Source source) { return index[source.id]; });
    visit(position, buffer.layout.axes.count == 0 ? position : Swizzled(buffer.layout.swizzle, address));
  }
}

}  // namespace

std::string PlanMemory::Name(Id buffer, int64_t at) const {
  return absl::StrCat("element ", at, " of ", p_.Text(p_.buffers[buffer].name));
}

std::vector<PlanMemory::Element>& PlanMemory::ElementsOf(Id buffer, const PlanThread& by) {
  const Id memory = plan_.MemoryOf(buffer);
  const BufferPlan& plan = plan_.buffers[buffer];
  const bool is_iterations = plan_.buffers[memory].per_iteration;
  std::vector<Element>& elements =
      memories_[memory][is_iterations ? by.iteration : by.NumberOf(p_.buffers[memory].scope.owner)];
  const int64_t count = plan.used() ? plan.elements : LayoutElements(p_, buffer);
  if (std::ssize(elements) < count) elements.resize(count);
  return elements;
}

PlanMemory::Element& PlanMemory::At(Id buffer, int64_t at, const PlanThread& by) {
  std::vector<Element>& elements = ElementsOf(buffer, by);
  const int64_t place = Swizzled(p_.buffers[buffer].layout.swizzle, at);
  if (place < 0 || place >= std::ssize(elements)) Fail(Name(buffer, at), " is out of bounds");
  return elements[place];
}

PlanMemory::Element& PlanMemory::Use(Id buffer, int64_t at, const PlanThread& by, PlanUse use) {
  Element& element = At(buffer, at, by);
  if (element.delayed) Fail(Name(buffer, at), " is used before a flush or a wait for its store");
  if (by.in_kernel && !element.uses.Add(by, use))
    Fail(Name(buffer, at), " is used by two threads, with no sync between them");
  return element;
}

Scalar PlanMemory::Load(const PlanThread& by, Id buffer, int64_t at, PlanUse use) {
  const Element& element = Use(buffer, at, by, use);
  if (element.writer != buffer) Fail(Name(buffer, at), " is read before it is written");
  return element.value;
}

void PlanMemory::Store(const PlanThread& by, Id buffer, int64_t at, Scalar value, PlanUse use,
                       plan::Store store) {
  Element& element = Use(buffer, at, by, use);
  element.writer = buffer;
  element.delayed = store.mode == plan::Store::Mode::kTransposed || store.mode == plan::Store::Mode::kAsync;
  streams_ |= store.mode == plan::Store::Mode::kStream;
  if (element.delayed) {
    delayed_.push_back({store, by, buffer, at, value});
  } else {
    element.value = value;
  }
}

template <typename Wanted>
void PlanMemory::Make(const Wanted& wanted) {
  for (const Delayed& store : delayed_) {
    if (!wanted(store)) continue;
    Element& element = At(store.buffer, store.at, store.by);
    element.value = store.value;
    element.delayed = false;
  }
  std::erase_if(delayed_, wanted);
}

void PlanMemory::Flush(int number) {
  Make([&](const Delayed& store) {
    return store.how.mode == plan::Store::Mode::kTransposed && store.how.flush == number;
  });
}

void PlanMemory::Wait(const PlanThread& by, int64_t groups) {
  Make([&](const Delayed& store) {
    return store.how.mode == plan::Store::Mode::kAsync && store.by.groups < groups &&
           store.by.NumberOf(Owner::kThread) == by.NumberOf(Owner::kThread);
  });
}

void PlanMemory::End(absl::string_view entry) const {
  if (!delayed_.empty()) Fail(entry, " ends with stores that no flush and no wait has made");
  if (streams_) Fail(entry, " ends without a fence after non-temporal stores");
}

void PlanMemory::BeginKernel() {
  for (size_t b = 0; b < memories_.size(); ++b) {
    if (p_.buffers[b].scope.owner < Owner::kGrid) memories_[b].clear();
    for (auto& [owner, elements] : memories_[b])
      for (Element& element : elements) element.uses = {};
  }
}

void PlanMemory::SetInputs(absl::Span<const std::string> inputs) {
  size_t next = 0;
  const auto fill = [&](Id id, const std::string& bytes) {
    const Buffer& buffer = p_.buffers[id];
    if (static_cast<int64_t>(bytes.size()) != BytesOf(p_, id))
      Fail("input ", p_.Text(buffer.name), " has a wrong size");
    std::vector<Element>& elements = ElementsOf(id, {});
    for (Element& element : elements) element.writer = id;
    if (buffer.layout.padding != kNone)
      for (Element& element : elements) element.value = ConstantValue(p_.exprs[buffer.layout.padding]);
    EachElement(p_, id, [&](int64_t position, int64_t address) {
      elements[address].value = LoadScalar(buffer.dtype, bytes.data() + position * SizeOf(buffer.dtype));
    });
  };
  for (const Id id : p_.parameters)
    if (p_.buffers[id].role != Role::kOutput) fill(id, inputs.at(next++));
  for (size_t b = 0; b < p_.buffers.size(); ++b)
    if (p_.buffers[b].data != kNone) fill(static_cast<Id>(b), (*p_.constants)[p_.buffers[b].data]);
}

std::vector<std::string> PlanMemory::Outputs() {
  std::vector<std::string> outputs;
  for (const Id id : p_.parameters) {
    const Buffer& buffer = p_.buffers[id];
    if (buffer.role != Role::kOutput) continue;
    std::string& bytes = outputs.emplace_back(BytesOf(p_, id), '\xA5');
    const std::vector<Element>& elements = ElementsOf(id, {});
    EachElement(p_, id, [&](int64_t position, int64_t address) {
      const Element& element = elements[address];
      if (element.writer != kNone)
        StoreScalar(buffer.dtype, element.value, bytes.data() + position * SizeOf(buffer.dtype));
    });
  }
  return outputs;
}

}  // namespace kiln

#include "lang/analysis/annotations.h"

namespace kiln {

void SetAnnotation(Program& program, Range& annotations, absl::string_view key, int64_t value) {
  const Id name = program.Intern(key);
  const auto old = program.List(annotations);
  std::vector<int32_t> pairs(old.begin(), old.end());
  size_t at = 0;
  while (at < pairs.size() && pairs[at] != name) at += 2;
  if (at == pairs.size()) pairs.resize(at + 2, name);
  pairs[at + 1] = static_cast<int32_t>(value);
  annotations = program.AddList(pairs);
}

int64_t AnnotationOf(const Program& program, Range annotations, absl::string_view key) {
  const auto pairs = program.List(annotations);
  for (size_t at = 0; at < pairs.size(); at += 2) {
    if (program.Text(pairs[at]) == key) return pairs[at + 1];
  }
  return 0;
}

}  // namespace kiln

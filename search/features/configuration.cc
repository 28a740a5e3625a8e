#include "search/features/configuration.h"

#include <cmath>

#include "search/features/columns.h"

namespace kiln {
namespace {

uint64_t HashOfName(absl::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

float& ColumnOf(float* row, uint64_t name, uint64_t place) {
  uint64_t bits = name ^ (place + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  return row[(bits >> 32) % kConfigurationDim];
}

}  // namespace

void FillConfigurationRow(const Replayed& replayed, float* row) {
  for (size_t s = 0; s < replayed.sites.size(); ++s) {
    const uint64_t name = HashOfName(replayed.name(static_cast<int>(s)));
    const Decision& decision = replayed.sites[s].decision;
    for (size_t i = 0; i < decision.size(); ++i)
      ColumnOf(row, name, i) += Log(std::abs(static_cast<double>(decision[i])));
  }
  for (const Schedule::Choice& choice : replayed.trace->choices)
    ColumnOf(row, HashOfName(choice.name), ~static_cast<uint64_t>(choice.picked)) += 1;
}

}  // namespace kiln

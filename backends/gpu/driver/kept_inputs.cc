#include "backends/gpu/driver/kept_inputs.h"

#include <string.h>

#include <map>
#include <string>
#include <tuple>

#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kMostBytes = 1 << 30;

using Key = std::tuple<uint64_t, int, std::string, int64_t, DataRange>;

}  // namespace

void CopyInput(uint64_t seed, int position, const KernelParam& param, int64_t first, int64_t elements,
               char* out) {
  static std::map<Key, std::string> kept;
  static int64_t kept_bytes = 0;
  const DataRange& range = param.range;
  const int64_t size = DTypeBytes(param.dtype), bytes = param.elements * size;
  if (bytes > kMostBytes) return FillInput(seed, position, param.dtype, first, elements, out, range);
  const Key key = {seed, position, param.dtype, param.elements, range};
  auto found = kept.find(key);
  if (found == kept.end()) {
    if (kept_bytes + bytes > kMostBytes) {
      kept.clear();
      kept_bytes = 0;
    }
    std::string data(static_cast<size_t>(bytes), '\0');
    FillInput(seed, position, param.dtype, 0, param.elements, data.data(), range);
    found = kept.emplace(key, std::move(data)).first;
    kept_bytes += bytes;
  }
  memcpy(out, found->second.data() + first * size, static_cast<size_t>(elements * size));
}

}  // namespace kiln

// libFuzzer target for the trees of cost models. Trees that parse can be evaluated, and are written as the same
// bytes, also after conversion to XGBoost's format and back. Trees that do not parse are refused with kInvalidArgument.
#include "lang/base/check.h"
#include "search/cost/forest.h"
#include "search/cost/xgboost_document.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kDim = 3;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<kiln::Forest> forest = kiln::ParseForest(bytes, kDim);
  if (!forest.ok()) {
    KILN_CHECK(absl::IsInvalidArgument(forest.status()), forest.status().ToString());
    return 0;
  }
  KILN_CHECK(kiln::Serialize(*forest) == bytes);
  float sum = 0;
  forest->AddTo({&sum, 1}, {0.0f, 1.0f, -1.0f}, kDim);
  const auto again = kiln::FromXgboost(kiln::ToXgboost(*forest, kDim), kDim);
  KILN_CHECK(again.ok() && kiln::Serialize(*again) == bytes);
  return 0;
}

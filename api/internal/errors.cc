#include "api/errors.h"

#include "absl/strings/cord.h"

namespace kiln::api {
namespace {

constexpr char kPayload[] = "kiln.mistake";

}  // namespace

absl::Status Mistake(absl::Status status) {
  if (!status.ok()) status.SetPayload(kPayload, absl::Cord("1"));
  return status;
}

bool IsMistake(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

}  // namespace kiln::api

#include "api/internal/store/trust.h"

#include "absl/strings/str_cat.h"

namespace kiln::api {

std::string AssumesText(absl::string_view assumptions) {
  return assumptions.empty() ? "" : absl::StrCat("; assumes: ", assumptions);
}

std::string TrustText(bool proven, bool verified, absl::string_view assumptions) {
  const char* text = proven     ? verified ? "proven and verified" : "proven"
                     : verified ? "verified"
                                : "neither proven nor verified";
  return absl::StrCat(text, AssumesText(assumptions));
}

bool IsProven(const RecordRow& record) { return record.flags.proven; }

std::string TrustText(const RecordRow& record) {
  return TrustText(IsProven(record), record.verified, record.assumptions);
}

}  // namespace kiln::api

#include "tools/trust.h"

#include "search/measure/noise.h"
#include "validator/proof/proof.h"

namespace kiln::tools {

std::string TrustText(bool proven, bool verified) {
  if (proven) return verified ? "proven and verified" : "proven";
  return verified ? "verified" : "neither proven nor verified";
}

bool IsProven(const RecordRow& record) { return HasFlag(record.flags, kProvenFlag); }

std::string TrustText(const RecordRow& record) { return TrustText(IsProven(record), record.verified); }

}  // namespace kiln::tools

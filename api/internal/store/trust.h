// Describes whether a program is known to compute what the original does.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "search/database/rows.h"

namespace kiln::api {

// Returns "proven and verified", "verified", "proven", or "neither proven nor verified", followed by the
// schedule's assumptions: "proven; assumes: finite inputs and intermediates".
std::string TrustText(bool proven, bool verified, absl::string_view assumptions);
std::string TrustText(const RecordRow& record);

// Returns the assumptions as they follow another text, for example "; assumes: finite inputs and intermediates".
// Returns "" without assumptions.
std::string AssumesText(absl::string_view assumptions);

// Returns true if the record has the flag `proven`. Only programs of the race at the end of a run can have it.
bool IsProven(const RecordRow& record);

}  // namespace kiln::api

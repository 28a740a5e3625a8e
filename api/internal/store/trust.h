// What is known of a program beside its time: whether it computes what the original does.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "search/database/rows.h"

namespace kiln::api {

// "proven and verified", "verified", "proven", or "neither proven nor verified": what is not said is not
// known. Then what the schedule assumes: "proven; assumes: finite inputs and intermediates".
std::string TrustText(bool proven, bool verified, absl::string_view assumptions);
std::string TrustText(const RecordRow& record);

// "; assumes: finite inputs and intermediates"; "" where nothing is assumed.
std::string AssumesText(absl::string_view assumptions);

// By its flag, which programs have that were in the race at the end of a run.
bool IsProven(const RecordRow& record);

}  // namespace kiln::api

// What is known of a program beside its time: whether it computes what the original does.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "search/database/rows.h"

namespace kiln::tools {

// What the words mean, for --help.
inline constexpr char kTrustHelp[] =
    "proven: equal to the original for every input that meets what is assumed, shown from the two programs "
    "without running them.\n"
    "verified: run on trial data, its outputs agree with those of the original within the stated tolerance.\n"
    "assumes: what data must be for both programs to compute the same; nothing is assumed where it does not "
    "stand.";

// "proven and verified", "verified", "proven", or "neither proven nor verified": what is not said is not
// known. Then what the schedule assumes: "proven; assumes: finite inputs and intermediates".
std::string TrustText(bool proven, bool verified, absl::string_view assumptions);
std::string TrustText(const RecordRow& record);

// "; assumes: finite inputs and intermediates"; "" where nothing is assumed.
std::string AssumesText(absl::string_view assumptions);

// By its flag, which programs have that were in the race at the end of a run.
bool IsProven(const RecordRow& record);

}  // namespace kiln::tools

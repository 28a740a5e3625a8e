// What is known of a program beside its time: whether it computes what the original does.
#pragma once

#include <string>

#include "search/database/rows.h"

namespace kiln::tools {

// What the words mean, for --help.
inline constexpr char kTrustHelp[] =
    "proven: equal to the original for every input, shown from the two programs without running them.\n"
    "verified: run on trial data, its outputs agree with those of the original within the stated tolerance.";

// "proven and verified", "verified", "proven", or "neither proven nor verified":
// what is not said is not known.
std::string TrustText(bool proven, bool verified);
std::string TrustText(const RecordRow& record);

// By its flag, which programs have that were in the race at the end of a run.
bool IsProven(const RecordRow& record);

}  // namespace kiln::tools

// Describes in words how a record was timed, from its flags and samples.
#pragma once

#include <string>

#include "search/database/rows.h"
#include "search/measure/noise.h"

namespace kiln::api {

// Returns the flags of a record and its number of quiet samples in words, for example "2 threads, multiply-adds fused,
// raced, 18 of 20 samples quiet". Unknown flags stay as they are.
std::string FlagsText(const RecordRow& record);
std::string FlagsText(const RecordFlags& flags, const Quiet& quiet);

// Returns how many samples nothing disturbed, for example "18 of 20 samples quiet", or "" if unknown.
std::string QuietText(const Quiet& quiet);

// Returns why the time of a noisy record is not reliable, or "" if it is not noisy. `raced` and `searched` are the
// seconds of the record's program in the race and in the search; 0 if unknown.
std::string NoiseText(const RecordFlags& flags, const Quiet& quiet, double raced, double searched);

}  // namespace kiln::api

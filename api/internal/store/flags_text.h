// How a record was timed, in words: of its flags, and of its samples.
#pragma once

#include <string>

#include "search/database/rows.h"
#include "search/measure/noise.h"

namespace kiln::api {

// "2 threads, multiply-adds fused, raced, 18 of 20 samples quiet". Words that are not known stay as they are.
std::string FlagsText(const RecordRow& record);
std::string FlagsText(const RecordFlags& flags, const Quiet& quiet);

// "18 of 20 samples quiet"; empty where nothing is known of it.
std::string QuietText(const Quiet& quiet);

// Why the time of a noisy record is not to be relied on, "" if it is not noisy. `raced` and `searched` are
// seconds of its program in race and search; 0: not known.
std::string NoiseText(const RecordFlags& flags, const Quiet& quiet, double raced, double searched);

}  // namespace kiln::api

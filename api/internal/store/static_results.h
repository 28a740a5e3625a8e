// Tells static results from measured ones (backends/measure/static_machine.h): their seconds are cycles divided by a
// clock, and are shown as cycles.
#pragma once

#include "lang/target/target.h"
#include "search/database/rows.h"

namespace kiln::api {

// Return the clock in Hz by which estimated seconds of the target become cycles; 0 if its records are measured.
double StaticClockOf(const Target& target);
double StaticClockOf(const TargetRow& target);
double StaticClockOf(const RunRow& run);

}  // namespace kiln::api

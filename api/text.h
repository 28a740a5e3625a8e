// Formats what commands print: numbers with units, counts in words, names, traces, and words quoted for a shell. Pure
// functions.
#pragma once

#include <map>
#include <string>

#include "trace/trace.h"

namespace kiln::api {

// Returns a time with its unit, for example "1.53 ms" or "24.1 us"; "-" if it is not finite.
std::string TimeText(double seconds);
// Returns the rate of so many operations in so many seconds, for example "97.2 GFLOP/s"; "-" if `flops` is not
// positive, or `seconds` is not positive and finite.
std::string RateText(double flops, double seconds);
// Returns a number of cycles with its unit, for example "12345 cycles".
std::string CyclesText(double cycles);
std::string PercentText(double part);
// Returns a count, in full below a million and otherwise with two significant digits, for example "1.2e+09".
std::string CountText(double count);
// Returns a number of cores in words: "1 core" or "2 cores".
std::string CoresText(int cores);
// Returns the number of failures of each class, for example "3 crashed, 1 timed_out"; empty without failures.
std::string FailuresText(const std::map<std::string, int>& failures);
// Returns the trace in the form that is stored and parsed.
std::string TraceText(const Trace& trace);
// Returns the name of a site or structural choice with the current names of its parts, as traces print it. `name` may
// have names of older versions.
std::string NameText(absl::string_view name);
// Returns the text as one word of a shell, in quotes if it needs them.
std::string Quoted(const std::string& word);

// The meaning of "proven" and "verified", for help texts.
inline constexpr char kTrustHelp[] =
    "proven: equal to the original for every input that meets what is assumed, shown from the two programs "
    "without running them.\n"
    "verified: run on trial data, its outputs agree with those of the original within the stated tolerance.\n"
    "assumes: what data must be for both programs to compute the same; nothing is assumed where it does not "
    "stand.";

}  // namespace kiln::api

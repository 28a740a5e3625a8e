// Formats numbers and words for people. Pure functions.
#pragma once

#include <map>
#include <string>

#include "trace/trace.h"

namespace kiln::api {

// Returns for example "1.53 ms" or "24.1 us"; "-" if the time is not finite.
std::string TimeText(double seconds);
// Returns for example "97.2 GFLOP/s"; "-" if a number is unknown.
std::string RateText(double flops, double seconds);
// Returns for example "12345 cycles".
std::string CyclesText(double cycles);
std::string PercentText(double part);
// Returns for example "1.2e+09"; small numbers in full.
std::string CountText(double count);
// Returns for example "1 core" or "2 cores".
std::string CoresText(int cores);
// Returns for example "3 crashed, 1 timed_out"; empty without failures.
std::string FailuresText(const std::map<std::string, int>& failures);
// Returns the trace in the form that is stored and parsed.
std::string TraceText(const Trace& trace);
// Returns the name of a site or structural choice, as traces print it.
std::string NameText(absl::string_view name);
// Quotes the text as one word of a shell.
std::string Quoted(const std::string& word);

// The meaning of "proven" and "verified", for help texts.
inline constexpr char kTrustHelp[] =
    "proven: equal to the original for every input that meets what is assumed, shown from the two programs "
    "without running them.\n"
    "verified: run on trial data, its outputs agree with those of the original within the stated tolerance.\n"
    "assumes: what data must be for both programs to compute the same; nothing is assumed where it does not "
    "stand.";

}  // namespace kiln::api

// Numbers and words as Kiln writes them for people. Pure functions.
#pragma once

#include <map>
#include <string>

#include "trace/trace.h"

namespace kiln::api {

// "1.53 ms", "24.1 us"; "-" if it is not finite.
std::string TimeText(double seconds);
// "97.2 GFLOP/s"; "-" if one is not known.
std::string RateText(double flops, double seconds);
std::string PercentText(double part);
// "1.2e+09"; small ones in full.
std::string CountText(double count);
// "1 core", "2 cores"
std::string CoresText(int cores);
// "3 crashed, 1 timed_out"; empty without failures.
std::string FailuresText(const std::map<std::string, int>& failures);
// As traces are stored and parsed.
std::string TraceText(const Trace& trace);
// As one word of a shell.
std::string Quoted(const std::string& word);

// What "proven" and "verified" mean, for help.
inline constexpr char kTrustHelp[] =
    "proven: equal to the original for every input that meets what is assumed, shown from the two programs "
    "without running them.\n"
    "verified: run on trial data, its outputs agree with those of the original within the stated tolerance.\n"
    "assumes: what data must be for both programs to compute the same; nothing is assumed where it does not "
    "stand.";

}  // namespace kiln::api

// A built Program as a kernel that runners can run:
// parameters with their roles, dtypes and sizes. No LLVM. Pure.
#pragma once

#include <string>
#include <vector>

#include "backends/builder/builder.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"

namespace kiln {

// How far the outputs of kernels may be from those of the original, for each in order.
std::vector<Tolerance> TolerancesOf(const Program& original);

// Where the data of each parameter must lie for the original to be defined; anywhere, if that is not known.
// What cannot be proven is tried on data of `data_seed` (lang/reference/trial_data.h).
std::vector<DataRange> RangesOf(const Program& original, uint64_t data_seed = 0);

// Those data: the bytes of each parameter that is no output, as runners fill them.
std::vector<std::string> TrialInputs(const Program& original, uint64_t data_seed,
                                     const std::vector<DataRange>& ranges);

// Of the program's parameters, in order; outputs are to agree within `tolerances`, one for each output in
// order. `ranges` are the original's, or empty.
std::vector<KernelParam> ParamsOf(const Program& program, const std::vector<Tolerance>& tolerances,
                                  const std::vector<DataRange>& ranges);

// `built` holds a shared object, as its only output, with the entry point `symbol`.
KernelObject KernelOf(const Program& program, const BuildResult& built, const std::string& symbol,
                      const std::vector<Tolerance>& tolerances, const std::vector<DataRange>& ranges = {});

}  // namespace kiln

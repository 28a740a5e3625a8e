// kiln_baseline registered|workloads|searches|objects [SHARD SHARDS]   prints a part of the baseline
// kiln_baseline before FOLDER                                          makes tests/inputs/before in FOLDER
//
// scripts/baseline runs it and compares with tests/golden/baseline.
#include <cstdlib>
#include <iostream>

#include "tests/baseline/parts.h"

int main(int argc, char** argv) {
  using namespace kiln::baseline;
  const std::string part = argc > 1 ? argv[1] : "";
  if (part == "registered") {
    PrintRegistered(std::cout);
  } else if (part == "workloads") {
    PrintWorkloads(std::cout);
  } else if (part == "searches") {
    PrintSearches(std::cout);
  } else if (part == "objects") {
    PrintObjects(std::cout, argc > 3 ? std::atoi(argv[2]) : 0, argc > 3 ? std::atoi(argv[3]) : 1);
  } else if (part == "before" && argc == 3) {
    MakeBefore(argv[2]);
  } else {
    std::cerr << "kiln_baseline registered|workloads|searches|objects [SHARD SHARDS]\n"
                 "kiln_baseline before FOLDER\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
}

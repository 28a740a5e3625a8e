// WantedElement: the value that a single element of an output must have. A list of them is a field of a kernel
// (KernelField in backends/runner/runner.h, with the tag kWantedElementsField), for a runner without the outputs of the
// original program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

inline constexpr uint32_t kWantedElementsField = 2;

// The tag of a kernel's field that holds a number as text: how often the kernel runs after its first run, with inputs
// of several seeds in turn. Outputs of runs with equal inputs must be equal, bit for bit: a kernel with a race is
// seldom right each time.
inline constexpr uint32_t kRepeatedRunsField = 3;

// The tag of a kernel's field that holds a number for each launch, as text with spaces between: how many blocks of the
// launch an SM must hold, as the driver computes it. Another number is a wrong result.
inline constexpr uint32_t kBlocksPerSmField = 4;

struct WantedElement {
  int32_t param = 0;
  int64_t index = 0;
  double value = 0;
};

// Convert a list of wanted elements to bytes and back. Decode returns false, and an unspecified list, for bytes that
// Encode did not write.
std::string Encode(const std::vector<WantedElement>& elements);
bool Decode(const std::string& bytes, std::vector<WantedElement>* elements);

}  // namespace kiln

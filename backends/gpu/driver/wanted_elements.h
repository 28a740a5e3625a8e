// Elements that outputs must have, for a runner without the outputs of the original: a field of the kernel
// (KernelField in backends/runner/runner.h) with the tag kWantedElementsField.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

inline constexpr uint32_t kWantedElementsField = 2;

// The tag of a field with a number, as text. A kernel with it runs so many times more, with inputs of other seeds in turn.
// Outputs of runs with equal inputs must be equal, bit for bit: a kernel with a race is seldom right each time.
inline constexpr uint32_t kRepeatedRunsField = 3;

// The tag of a field with numbers, as text with spaces between: how many blocks of each launch an SM should hold, by the
// driver. Another number is a wrong result.
inline constexpr uint32_t kBlocksPerSmField = 4;

struct WantedElement {
  int32_t param = 0;
  int64_t index = 0;
  double value = 0;
};

// Decode returns false, and an unspecified value, for bytes that Encode did not write.
std::string Encode(const std::vector<WantedElement>& elements);
bool Decode(const std::string& bytes, std::vector<WantedElement>* elements);

}  // namespace kiln

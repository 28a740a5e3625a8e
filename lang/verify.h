// Where an error of Verify (lang/program.h) is: for those who know where blocks came from.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "lang/ids.h"

namespace kiln {

// The node of the block that the error is about, if it is about one.
std::optional<Id> BlockOf(const absl::Status& error);

}  // namespace kiln

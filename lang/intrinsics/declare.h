// Declares intrinsics. Each family of this folder constructs one DeclareIntrinsics, such as
//
//   const DeclareIntrinsics kDot(family, {{.name = "dot", .description = kProgram}});
#pragma once

#include <utility>
#include <vector>

#include "lang/patterns/intrinsic.h"
#include "lang/text/text.h"

namespace kiln {

// Registers a family of intrinsics with its intrinsics, when a constant of this type is initialized. Two intrinsics, or
// two families, with the same name are a fatal error, and so is a family that names an unknown intrinsic.
struct DeclareIntrinsics {
  DeclareIntrinsics(IntrinsicFamily family, std::vector<Intrinsic> intrinsics) {
    RegisterIntrinsics(std::move(family), std::move(intrinsics),
                       [](absl::string_view description) { return ParseProgram(description); });
  }
};

}  // namespace kiln

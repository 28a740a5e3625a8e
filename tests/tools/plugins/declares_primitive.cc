// A faulty plugin for tests: it declares a primitive, which plugins must not do.
#include "lang/schedule/primitive.h"
#include "modules/module.h"

namespace kiln {
namespace {

const Primitive kNothing = {.name = "nothing",
                            .operands = {},
                            .attributes = {},
                            .result = HandleKind::kBlock,
                            .result_names = "",
                            .doc = "Does nothing.",
                            .apply = [](Call&) { return absl::OkStatus(); }};
KILN_PRIMITIVE(kNothing);

}  // namespace
}  // namespace kiln

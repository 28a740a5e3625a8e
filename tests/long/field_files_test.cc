// Tunes and exports the MLIR files of tests/inputs/field that run long, calls the exported functions from C, and
// expects the right results.
#include "tests/e2e/field_files.h"

namespace kiln {
namespace {

class LongFieldFiles : public testing::TestWithParam<std::string> {};

TEST_P(LongFieldFiles, GiveTheRightValuesFromC) { ExpectRightFromC(GetParam(), "", 4); }

INSTANTIATE_TEST_SUITE_P(, LongFieldFiles, testing::ValuesIn(InputsFromField(true)), StemOf);

}  // namespace
}  // namespace kiln

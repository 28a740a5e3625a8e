// Tunes and exports the MLIR files of tests/inputs/field that run fast, calls the exported functions from C, and
// expects the right results.
#include "tests/e2e/field_files.h"

namespace kiln {
namespace {

class FieldFiles : public testing::TestWithParam<std::string> {};

TEST_P(FieldFiles, GiveTheRightValuesFromC) { ExpectRightFromC(GetParam(), "", 16); }

INSTANTIATE_TEST_SUITE_P(, FieldFiles, testing::ValuesIn(InputsFromField(false)), StemOf);

}  // namespace
}  // namespace kiln

// Tests that files from the field give the right values when C calls their tuned and exported functions.
#include "tests/e2e/field_files.h"

namespace kiln {
namespace {

class FieldFiles : public testing::TestWithParam<std::string> {};

TEST_P(FieldFiles, GiveTheRightValuesFromC) { ExpectRightFromC(GetParam(), "", 16); }

INSTANTIATE_TEST_SUITE_P(, FieldFiles, testing::ValuesIn(InputsFromField(false)), StemOf);

}  // namespace
}  // namespace kiln

// Tests those files of tests/inputs/field whose unscheduled program takes long.
#include "tests/e2e/field_files.h"

namespace kiln {
namespace {

class LongFieldFiles : public testing::TestWithParam<std::string> {};

TEST_P(LongFieldFiles, GiveTheRightValuesFromC) { ExpectRightFromC(GetParam(), "", 4); }

INSTANTIATE_TEST_SUITE_P(, LongFieldFiles, testing::ValuesIn(InputsFromField(true)), StemOf);

}  // namespace
}  // namespace kiln

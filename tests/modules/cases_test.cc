// Runs the cases of modules: one test for each file of tests/modules/cases.
#include "test_paths.h"
#include "testing/case_files.h"

namespace kiln {
namespace {

const bool kRegistered = RegisterModuleCases(KILN_SOURCE_DIR "/tests/modules/cases");

}  // namespace
}  // namespace kiln

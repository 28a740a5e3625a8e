#include <iostream>

#include "build_info.h"
#include "lang/base/check.h"

extern "C" const char* kiln_version();

int main() {
  KILN_CHECK(kiln_version() == absl::string_view(KILN_VERSION), "headers ", KILN_VERSION, ", library ",
             kiln_version());
  std::cout << "consumer of Kiln " << kiln_version() << "\n";
}

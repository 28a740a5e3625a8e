#include "lang/check.h"

extern "C" void consumer_module_loaded() { KILN_CHECK(true); }

#include "tools/command.h"

int main(int argc, char** argv) { return kiln::tools::RunKiln(argc, argv); }

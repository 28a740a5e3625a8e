#include "backends/runner/launch.h"

#include "backends/workers/wire.h"

namespace kiln {
std::string Encode(const LaunchList& list) { return WireEncode<LaunchFields>(list); }
bool Decode(const std::string& bytes, LaunchList* list) { return WireDecode<LaunchFields>(bytes, list); }

}  // namespace kiln

#include "backends/gpu/driver/wanted_elements.h"

#include "backends/workers/wire.h"

namespace kiln {
namespace {

struct ElementFields {
  static void Of(auto& visit, auto& element) { visit(element.param, element.index, element.value); }
};

}  // namespace

std::string Encode(const std::vector<WantedElement>& elements) { return WireEncode<ElementFields>(elements); }
bool Decode(const std::string& bytes, std::vector<WantedElement>* elements) {
  return WireDecode<ElementFields>(bytes, elements);
}

}  // namespace kiln

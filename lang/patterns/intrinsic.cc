#include "lang/patterns/intrinsic.h"

#include <map>
#include <mutex>

#include "lang/base/check.h"

namespace kiln {
namespace {

struct Registered {
  Intrinsic intrinsic;
  absl::StatusOr<Program> (*parse)(absl::string_view) = nullptr;
  mutable std::once_flag parsed;
  mutable Program description;
};

std::map<std::string, Registered>& Intrinsics() {
  static auto* registry = new std::map<std::string, Registered>();
  return *registry;
}

std::map<std::string, IntrinsicFamily>& Families() {
  static auto* registry = new std::map<std::string, IntrinsicFamily>();
  return *registry;
}

}  // namespace

void RegisterIntrinsics(IntrinsicFamily family, std::vector<Intrinsic> intrinsics,
                        absl::StatusOr<Program> (*parse)(absl::string_view description)) {
  for (Intrinsic& intrinsic : intrinsics) {
    Registered& registered = Intrinsics()[intrinsic.name];
    KILN_CHECK(registered.intrinsic.name.empty(), "two intrinsics are called ", intrinsic.name);
    registered.intrinsic = std::move(intrinsic);
    registered.parse = parse;
  }
  for (const std::string& name : {family.compute, family.fill, family.load_a, family.load_b, family.store})
    KILN_CHECK(name.empty() || FindIntrinsic(name) != nullptr, family.name, " has no intrinsic ", name);
  const std::string name = family.name;
  KILN_CHECK(Families().emplace(name, std::move(family)).second, "two families are called ", name);
}

const Intrinsic* FindIntrinsic(absl::string_view name) {
  const auto it = Intrinsics().find(std::string(name));
  return it == Intrinsics().end() ? nullptr : &it->second.intrinsic;
}

const IntrinsicFamily* FamilyThatComputesWith(absl::string_view intrinsic) {
  for (const auto& [name, family] : Families())
    if (family.compute == intrinsic) return &family;
  return nullptr;
}

const Program& DescriptionOf(const Intrinsic& intrinsic) {
  const Registered& registered = Intrinsics().at(intrinsic.name);
  std::call_once(registered.parsed, [&] {
    const absl::StatusOr<Program> program = registered.parse(intrinsic.description);
    KILN_CHECK(program.ok(), "the description of ", intrinsic.name, ": ", program.status().ToString());
    registered.description = *program;
  });
  return registered.description;
}

std::vector<const Intrinsic*> AllIntrinsics() {
  std::vector<const Intrinsic*> all;
  for (const auto& [name, registered] : Intrinsics()) all.push_back(&registered.intrinsic);
  return all;
}

std::vector<const IntrinsicFamily*> Target::matrix_intrinsics() const {
  std::vector<const IntrinsicFamily*> families;
  for (const auto& [name, family] : Families()) {
    if (family.has != nullptr && family.has(*this)) families.push_back(&family);
  }
  return families;
}

}  // namespace kiln

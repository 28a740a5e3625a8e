// Tests that no two files define a type or free function with the same qualified name: undefined behavior if a program
// links both, which no compiler or linker reports. universal-ctags parses the sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

using Json = nlohmann::json;

// Returns the types of the parameters of a signature, without names and defaults: `const Program &,int` for
// `(const Program & program,int n=1) const`.
std::string ParameterTypes(absl::string_view signature) {
  std::vector<std::string> types(1);
  int depth = 0;
  for (const char c : signature) {
    depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
    if (depth == 1 && c == ',') {
      types.emplace_back();
    } else if (depth > 0 && types.back().find('=') == std::string::npos) {
      types.back() += c;
    }
  }
  absl::string_view first = types[0];
  types[0] = std::string(absl::StripPrefix(first, "("));
  for (std::string& type : types) {
    if (absl::EndsWith(type, "=")) type.pop_back();
    const size_t before = type.find_last_of(" &*>");
    if (before != std::string::npos && before + 1 < type.size()) type.resize(before + 1);
    absl::StripAsciiWhitespace(&type);
  }
  return absl::StrJoin(types, ",");
}

// Returns the qualified name of a type or free function that ctags found (`tag`), for functions with the types of the
// parameters. Returns "" for names that several files may define: members of classes, and names that are static, in an
// anonymous namespace or in no namespace, such as main.
std::string NameOfHome(const Json& tag) {
  const std::string scope = tag.value("scope", ""), kind = tag.at("kind"), name = tag.at("name");
  if (scope.empty() || absl::StrContains(scope, "__anon") || absl::StartsWith(name, "__anon")) return "";
  const std::string qualified = absl::StrCat(scope, "::", name);
  if (kind != "function" && kind != "prototype") return qualified;
  const std::string pattern = tag.value("pattern", "");
  const bool own = absl::StartsWith(pattern, "/^static ") || absl::StrContains(pattern, "friend ");
  if (own || tag.value("scopeKind", "") != "namespace") return "";
  return absl::StrCat(qualified, "(", ParameterTypes(tag.value("signature", "")), ")");
}

// Returns the text "NAME is in FILE, FILE" for each name that two files define or two headers declare.
std::vector<std::string> TwoHomes(const std::string& root, const std::vector<std::string>& files) {
  const std::string list = absl::StrCat(testing::TempDir(), "/ctags_files_", getpid());
  const std::string out = absl::StrCat(testing::TempDir(), "/ctags_out_", getpid());
  std::ofstream(list) << absl::StrJoin(files, "\n") << "\n";
  const std::string command = absl::StrCat(
      "cd '", root, "' && ctags --language-force=C++ --output-format=json ",
      "--fields=+KzSs --kinds-C++=csgufp --pattern-length-limit=0 -L '", list, "' -o - > '", out, "'");
  EXPECT_EQ(std::system(command.c_str()), 0)
      << command << ": is universal-ctags installed (scripts/bootstrap)?";
  std::map<std::string, std::set<std::string>> homes;
  std::ifstream tags(out);
  for (std::string line; std::getline(tags, line);) {
    const Json tag = Json::parse(line);
    const std::string name = NameOfHome(tag);
    if (!name.empty())
      homes[(tag.at("kind") == "prototype" ? "the declaration of " : "") + name].insert(tag.at("path"));
  }
  std::filesystem::remove(list);
  std::filesystem::remove(out);
  EXPECT_FALSE(homes.empty());
  std::vector<std::string> clashes;
  for (const auto& [name, paths] : homes) {
    if (paths.size() > 1) clashes.push_back(absl::StrCat(name, " is in ", absl::StrJoin(paths, ", ")));
  }
  return clashes;
}

TEST(OneHome, EveryTypeAndFreeFunctionHasOne) {
  std::vector<std::string> files;
  for (const TextFile& file : ReadTree()) {
    const bool other_program =
        absl::StartsWith(file.path, "tests/inputs/") || absl::StartsWith(file.path, "tests/package/");
    if (file.IsSource() && !other_program) files.push_back(file.path);
  }
  EXPECT_THAT(TwoHomes(KILN_SOURCE_DIR, files), testing::IsEmpty());
}

TEST(OneHome, ClashesAreFound) {
  const std::string root = absl::StrCat(testing::TempDir(), "/one_home_", getpid());
  std::filesystem::create_directories(root);
  std::ofstream(root + "/a.h") << R"(namespace kiln {
struct Same { int a; };
struct Forward;
int Twice(const Same& a, int b = 1);
int Overloaded(int a);
class Holder { int Member(); struct Inner {}; };
})";
  std::ofstream(root + "/a.cc") << R"(namespace kiln {
namespace { struct Own {}; int Mine() { return 1; } }
static int Kept() { return 1; }
int Twice(const Same& one, int two) { return 1; }
int Overloaded(int a) { return a; }
int Holder::Member() { return 1; }
}
int main() { return 0; })";
  std::ofstream(root + "/b.cc") << R"(namespace kiln {
namespace { struct Own {}; int Mine() { return 2; } }
static int Kept() { return 2; }
enum class Same { kOne };
int Twice(const Same& a, int b) { return 2; }
int Overloaded(double a) { return 2; }
class Other { int Member(); struct Inner {}; };
int Other::Member() { return 2; }
}
int main() { return 1; })";
  EXPECT_THAT(
      TwoHomes(root, {"a.h", "a.cc", "b.cc"}),
      testing::ElementsAre("kiln::Same is in a.h, b.cc", "kiln::Twice(const Same &,int) is in a.cc, b.cc"));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace kiln::house

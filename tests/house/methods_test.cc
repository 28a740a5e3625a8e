// Tests that no class of backends/lower/emit/ has more than 30 methods, private ones included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

constexpr int kMaxMethods = 30;

// Returns the number of methods of each class of a formatted source: the lines with the indentation of members that
// have a parenthesis.
std::map<std::string, int> MethodsOf(const std::vector<std::string>& lines) {
  std::map<std::string, int> methods;
  std::vector<std::pair<size_t, std::string>> open;  // classes around the line, with their indents
  for (const absl::string_view line : lines) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const absl::string_view text = line.substr(indent), declared = text.substr(0, text.find("//"));
    const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
    if ((words[0] == "class" || words[0] == "struct") && absl::EndsWith(text, "{")) {
      open.emplace_back(indent, words[1]);
      methods[open.back().second] = 0;
    } else if (!open.empty() && text == "};" && indent == open.back().first) {
      open.pop_back();
    } else if (!open.empty() && indent == open.back().first + 2 && absl::StrContains(declared, "(")) {
      ++methods[open.back().second];
    }
  }
  return methods;
}

TEST(Methods, OfAClassOfTheEmitterAreAtMostThirty) {
  size_t classes = 0;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource() || !absl::StartsWith(file.path, "backends/lower/emit/")) continue;
    for (const auto& [name, methods] : MethodsOf(file.lines)) {
      ++classes;
      EXPECT_LE(methods, kMaxMethods) << file.path << ": " << name << "; part it by the state that it owns";
    }
  }
  EXPECT_GE(classes, 9);  // so that the parser does find classes
}

TEST(Methods, AreCounted) {
  const std::vector<std::string> lines = absl::StrSplit(R"(class Emitter {
 public:
  explicit Emitter(int a) : a_(a) {}
  // Calls it (once).
  void Emit(Id buffer,
            Value value);
  struct Saved {
    void Restore();
    int loads = 0;
  };
  int a() const {
    return Read(a_);
  }

 private:
  int a_ = 0;  // from a()
};
int Free(int a);
class Later;
)",
                                                        '\n');
  EXPECT_THAT(MethodsOf(lines), testing::ElementsAre(testing::Pair("Emitter", 3), testing::Pair("Saved", 1)));
}

}  // namespace
}  // namespace kiln::house

#include "api/internal/run_text.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/text.h"

namespace kiln::api {
namespace {

std::string Absolute(const std::string& path) {
  return Quoted(std::filesystem::absolute(path).lexically_normal().string());
}

// Builds a command line: appends " --NAME VALUE" for each option that differs from its default.
class Options {
 public:
  explicit Options(std::string text) : text_(std::move(text)) {}
  template <typename T>
  void Add(absl::string_view name, const T& value, const T& usual) {
    if (value != usual) absl::StrAppend(&text_, " --", name, " ", value);
  }
  void AddFile(absl::string_view name, const std::string& path) {
    if (!path.empty()) absl::StrAppend(&text_, " --", name, " ", Absolute(path));
  }
  void AddFlag(absl::string_view name, bool set) {
    if (set) absl::StrAppend(&text_, " --", name);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string RunText(const TuneSettings& s, const Input& input) {
  const TuneSettings usual;
  const std::string file = input.digest.empty() ? Absolute(input.source.path) : "-";
  Options options(absl::StrCat("kiln tune ", file, " --trials ", s.trials, " --seed ", s.seed));
  options.Add("function", Quoted(input.source.function), Quoted(""));
  options.Add("inputs", Quoted(absl::StrJoin(input.inputs, ",")), Quoted(""));
  options.Add("time", s.seconds, usual.seconds);
  options.Add("target", s.target, usual.target);
  options.AddFlag("static", s.is_static);
  if (s.target == usual.target) options.Add("threads", s.threads, usual.threads);
  options.AddFlag("no-contract", !s.contract);
  options.AddFlag("cold", s.cold);
  options.AddFlag("in-model", s.in_model);
  options.AddFlag("no-in-place", !s.in_place);
  options.Add("without", input.policies.WithoutText(), std::string());
  options.Add("strategy", s.strategy, usual.strategy);
  options.AddFile("replay", s.replay);
  options.AddFile("start", s.start);
  options.Add("scheduler", s.scheduler, usual.scheduler);
  options.Add("until-roofline", s.until_roofline, usual.until_roofline);
  options.Add("least-gain", s.least_gain, usual.least_gain);
  options.Add("cost-model", s.cost_model, usual.cost_model);
  options.Add("features", s.features, usual.features);
  options.AddFile("transfer", s.transfer);
  options.Add("space", Quoted(s.space.space), Quoted(""));
  for (const std::string& plugin : s.space.plugins) options.AddFile("plugin", plugin);
  const std::string text = std::move(options).text();
  return input.digest.empty() ? text : absl::StrCat(text, " < ", input.digest);
}

}  // namespace kiln::api

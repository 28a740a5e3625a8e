#include "search/cost/xgboost_model.h"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lang/base/check.h"
#include "search/cost/forest.h"
#include "search/cost/mix.h"
#include "search/cost/xgboost_document.h"

namespace kiln {
namespace {

constexpr absl::string_view kMagic = "kiln.xgboost";
constexpr absl::string_view kVersion = "v2";

struct FreeBooster {
  using pointer = BoosterHandle;
  void operator()(BoosterHandle b) const { XGBoosterFree(b); }
};
struct FreeMatrix {
  using pointer = DMatrixHandle;
  void operator()(DMatrixHandle m) const { XGDMatrixFree(m); }
};
using Booster = std::unique_ptr<void, FreeBooster>;
using Matrix = std::unique_ptr<void, FreeMatrix>;

absl::Status Checked(int return_code, absl::string_view what) {
  if (return_code == 0) return absl::OkStatus();
  const absl::string_view message = XGBGetLastError();
  return absl::InternalError(
      absl::StrCat("XGBoost failed to ", what, ": ", message.substr(0, message.find("\nStack trace"))));
}

absl::string_view LossName(Loss loss) { return loss == Loss::kPairwise ? "pairwise" : "squared-error"; }

std::string ArrayInterface(const FeatureBatch& batch) {
  return absl::StrFormat(R"({"data":[%u,true],"shape":[%d,%d],"typestr":"<f4","version":3})",
                         reinterpret_cast<uintptr_t>(batch.values.data()), batch.rows(), batch.dim);
}

constexpr char kPredictConfig[] =
    R"({"type":1,"training":true,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";

std::vector<double> SumRows(const FeatureBatch& batch, const float* rows) {
  std::vector<double> sums(batch.programs(), 0.0);
  for (int p = 0; p < batch.programs(); ++p) {
    for (int r = batch.first_row[p]; r < batch.first_row[p + 1]; ++r) sums[p] += rows[r];
  }
  return sums;
}

uint64_t Fnv1a(absl::string_view bytes, uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Returns how often a bootstrap member draws a program, if it draws as many programs as there are. The number has a
// Poisson distribution with mean 1, cut off at 8, and depends only on the member and the program.
int TimesDrawn(int member, int program) {
  const uint64_t bits = MixBits(MixBits(static_cast<uint64_t>(member) + 1) + static_cast<uint64_t>(program));
  const double u = static_cast<double>(bits >> 11) * 0x1p-53;
  double below = std::exp(-1.0), term = below;
  int times = 0;
  while (u >= below && times < 8) below += term /= ++times;
  return times;
}

struct State {
  std::vector<Forest> members;  // empty, or options.members forests with equally many trees
  int rebuilt_at = 0;           // number of programs when training last started from scratch

  int trees() const { return members.empty() ? 0 : members[0].trees(); }
};

class XgboostModel final : public CostModel {
 public:
  XgboostModel(int dim, const XgboostOptions& options) : dim_(dim), options_(options) {}

  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override {
    if (absl::Status s = CheckFeatures(programs, dim_); !s.ok()) return s;
    absl::StatusOr<std::vector<double>> scores = std::vector<double>();
    if (options_.base != nullptr && (state_.trees() == 0 || options_.residual))
      scores = options_.base->Predict(programs);
    if (!scores.ok()) return scores;
    scores->resize(programs.programs(), 0.0);
    for (const Forest& member : state_.members) {
      const std::vector<double> sums = Sums(member, programs);
      for (size_t p = 0; p < sums.size(); ++p) (*scores)[p] += sums[p] / options_.members;
    }
    return scores;
  }

  absl::StatusOr<std::vector<double>> Disagreement(const FeatureBatch& programs) const override {
    if (absl::Status s = CheckFeatures(programs, dim_); !s.ok()) return s;
    std::vector<double> mean(programs.programs(), 0.0), spread(programs.programs(), 0.0);
    double members = 0;
    for (const Forest& member : state_.members) {
      const std::vector<double> sums = Sums(member, programs);
      ++members;
      for (size_t p = 0; p < sums.size(); ++p) {
        const double from_mean = sums[p] - mean[p];
        mean[p] += from_mean / members;
        spread[p] += from_mean * (sums[p] - mean[p]);
      }
    }
    for (double& s : spread) s = members > 0 ? std::sqrt(s / members) : 0;
    return spread;
  }

  bool Informed() const override { return options_.base != nullptr; }

  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override {
    if (absl::Status s = CheckFeatures(programs, dim_); !s.ok()) return s;
    if (absl::Status s = CheckLabels(programs, labels); !s.ok()) return s;
    if (programs.rows() == 0) return absl::OkStatus();
    absl::StatusOr<std::vector<double>> base = std::vector<double>();
    if (options_.base != nullptr && options_.residual) base = options_.base->Predict(programs);
    if (!base.ok()) return base.status();

    const bool rebuild = state_.trees() == 0 ||
                         programs.programs() >= options_.rebuild_growth * state_.rebuilt_at ||
                         state_.trees() + options_.more_trees > options_.most_trees;
    DMatrixHandle handle = nullptr;
    const int code =
        XGDMatrixCreateFromDense(ArrayInterface(programs).c_str(), R"({"missing":NaN,"nthread":1})", &handle);
    if (absl::Status s = Checked(code, "take the features"); !s.ok()) return s;
    const Matrix matrix(handle);
    State next;
    next.rebuilt_at = rebuild ? programs.programs() : state_.rebuilt_at;
    for (int m = 0; m < options_.members; ++m) {
      std::vector<TrainingLabel> drawn(labels.begin(), labels.end());
      for (int p = 0; options_.members > 1 && p < programs.programs(); ++p)
        drawn[p].weight *= TimesDrawn(m, p);
      absl::StatusOr<Forest> grown =
          Grow(rebuild ? Forest() : state_.members[m], rebuild ? options_.first_trees : options_.more_trees,
               matrix.get(), programs, SumLoss(options_.loss, drawn, *base));
      if (!grown.ok()) return grown.status();
      next.members.push_back(*std::move(grown));
    }
    state_ = std::move(next);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Save() const override {
    std::string trees;
    for (const Forest& member : state_.members) {
      const std::string forest = Serialize(member);
      absl::StrAppend(&trees, forest.size(), "\n", forest);
    }
    const std::string head =
        absl::StrCat(kMagic, " ", kVersion, " dim=", dim_, " loss=", LossName(options_.loss.kind),
                     " members=", state_.members.size(), " trees=", state_.trees(),
                     " programs=", state_.rebuilt_at, " bytes=", trees.size());
    return absl::StrCat(head, absl::StrFormat(" check=%016x\n", Fnv1a(trees, Fnv1a(head))), trees);
  }

  absl::Status Load(absl::string_view bytes) override {
    absl::StatusOr<State> state = Parse(bytes);
    if (!state.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot load the trees of a cost model: ", state.status().message()));
    }
    state_ = *std::move(state);
    return absl::OkStatus();
  }

 private:
  std::vector<double> Sums(const Forest& forest, const FeatureBatch& programs) const {
    std::vector<float> rows(programs.rows(), 0.0f);
    forest.AddTo(absl::MakeSpan(rows), programs.values, dim_);
    return SumRows(programs, rows.data());
  }

  absl::StatusOr<Booster> MakeBooster(const Forest& forest) const {
    if (absl::Status s = Checked(XGBSetGlobalConfig(R"({"verbosity":0})"), "be silent"); !s.ok()) return s;
    BoosterHandle handle = nullptr;
    if (absl::Status s = Checked(XGBoosterCreate(nullptr, 0, &handle), "make a booster"); !s.ok()) return s;
    Booster booster(handle);
    if (forest.trees() > 0) {
      const std::string document = ToXgboost(forest, dim_);
      const int code = XGBoosterLoadModelFromBuffer(handle, document.data(), document.size());
      if (absl::Status s = Checked(code, "load its trees"); !s.ok()) return s;
    }
    const std::pair<const char*, std::string> parameters[] = {
        {"verbosity", "0"},
        {"nthread", "1"},
        {"num_feature", absl::StrCat(dim_)},
        {"seed", "0"},
        {"objective", "reg:squarederror"},
        {"disable_default_eval_metric", "1"},
        {"base_score", "0"},
        {"booster", "gbtree"},
        {"tree_method", "hist"},
        {"predictor", "cpu_predictor"},
        {"min_child_weight", "0"},
        {"max_bin", absl::StrCat(options_.bins)},
        {"max_depth", absl::StrCat(options_.depth)},
        {"eta", absl::StrCat(options_.shrinkage)},
        {"lambda", absl::StrCat(options_.regularization)},
    };
    for (const auto& [name, value] : parameters) {
      if (absl::Status s = Checked(XGBoosterSetParam(handle, name, value.c_str()), name); !s.ok()) return s;
    }
    return booster;
  }

  // Trains `trees` more trees on the loss and returns the forest with them. All n rows of a program change at once, so
  // each row gets n times the second derivative by the program's sum, which bounds their joint effect.
  absl::StatusOr<Forest> Grow(const Forest& forest, int trees, DMatrixHandle matrix,
                              const FeatureBatch& programs, const SumLoss& loss) const {
    const absl::StatusOr<Booster> made = MakeBooster(forest);
    if (!made.ok()) return made.status();
    const BoosterHandle booster = made->get();
    std::vector<double> first;
    std::vector<double> second;
    std::vector<float> row_first(programs.rows());
    std::vector<float> row_second(programs.rows());
    for (int t = 0; t < trees; ++t) {
      const bst_ulong* shape = nullptr;
      bst_ulong rank = 0;
      const float* rows = nullptr;
      int code = XGBoosterPredictFromDMatrix(booster, matrix, kPredictConfig, &shape, &rank, &rows);
      if (absl::Status s = Checked(code, "predict in training"); !s.ok()) return s;
      loss.Derivatives(SumRows(programs, rows), &first, &second);
      for (int p = 0; p < programs.programs(); ++p) {
        const int begin = programs.first_row[p];
        const int end = programs.first_row[p + 1];
        for (int r = begin; r < end; ++r) {
          row_first[r] = static_cast<float>(first[p]);
          row_second[r] = static_cast<float>(second[p] * (end - begin));
        }
      }
      code = XGBoosterBoostOneIter(booster, matrix, row_first.data(), row_second.data(), row_first.size());
      if (absl::Status s = Checked(code, "grow a tree"); !s.ok()) return s;
    }
    bst_ulong size = 0;
    const char* bytes = nullptr;
    const int code = XGBoosterSaveModelToBuffer(booster, R"({"format":"ubj"})", &size, &bytes);
    if (absl::Status s = Checked(code, "save its trees"); !s.ok()) return s;
    return FromXgboost({bytes, size}, dim_);
  }

  absl::StatusOr<State> Parse(absl::string_view bytes) const {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(bytes, absl::MaxSplits('\n', 1));
    const std::vector<absl::string_view> fields = absl::StrSplit(halves.first, ' ');
    if (fields[0] != kMagic)
      return absl::InvalidArgumentError(absl::StrCat("the bytes do not begin with '", kMagic, "'"));
    const auto field = [&](size_t i, absl::string_view name) -> absl::string_view {
      absl::string_view value = i < fields.size() ? fields[i] : "";
      return absl::ConsumePrefix(&value, name) && absl::ConsumePrefix(&value, "=") ? value : "";
    };
    const auto expect = [](absl::string_view what, absl::string_view found, absl::string_view wanted) {
      if (found == wanted) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat("it was saved with ", what, " '", found, "', this one has '", wanted, "'"));
    };
    if (absl::Status s = expect("version", fields.size() > 1 ? fields[1] : "", kVersion); !s.ok()) return s;
    if (absl::Status s = expect("features a row", field(2, "dim"), absl::StrCat(dim_)); !s.ok()) return s;
    if (absl::Status s = expect("loss", field(3, "loss"), LossName(options_.loss.kind)); !s.ok()) return s;

    State state;
    int members = 0, trees = 0;
    size_t size = 0;
    if (fields.size() != 9 || !absl::SimpleAtoi(field(4, "members"), &members) ||
        !absl::SimpleAtoi(field(5, "trees"), &trees) || trees < 0 ||
        !absl::SimpleAtoi(field(6, "programs"), &state.rebuilt_at) || state.rebuilt_at < 0 ||
        !absl::SimpleAtoi(field(7, "bytes"), &size)) {
      return absl::InvalidArgumentError("its first line is damaged");
    }
    if (members != options_.members && (members != 0 || trees != 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("it was saved with ", members, " members, this one has ", options_.members));
    }
    if (size != halves.second.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "its first line promises ", size, " bytes of trees, but ", halves.second.size(), " follow"));
    }
    const absl::string_view head = halves.first.substr(0, halves.first.rfind(" check="));
    if (field(8, "check") != absl::StrFormat("%016x", Fnv1a(halves.second, Fnv1a(head)))) {
      return absl::InvalidArgumentError("its check sum does not match: the bytes are damaged");
    }
    auto parsed = ParseMembers(halves.second, members, trees);
    if (!parsed.ok()) return parsed.status();
    state.members = *std::move(parsed);
    return state;
  }

  // Parses the saved forests of the members: for each a line with its size in bytes, then its trees.
  absl::StatusOr<std::vector<Forest>> ParseMembers(absl::string_view rest, int members, int trees) const {
    std::vector<Forest> result;
    for (int m = 0; m < members; ++m) {
      size_t bytes_of_member = 0;
      const size_t end = std::min(rest.find('\n'), rest.size());
      if (!absl::SimpleAtoi(rest.substr(0, end), &bytes_of_member) || end == rest.size() ||
          bytes_of_member > rest.size() - end - 1) {
        return absl::InvalidArgumentError(absl::StrCat("member ", m, " does not say its size"));
      }
      absl::StatusOr<Forest> forest = ParseForest(rest.substr(end + 1, bytes_of_member), dim_);
      if (!forest.ok()) return forest.status();
      if (forest->trees() != trees || trees == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("its first line promises ", trees, " trees, member ", m, " has ", forest->trees()));
      }
      result.push_back(*std::move(forest));
      rest.remove_prefix(end + 1 + bytes_of_member);
    }
    if (!rest.empty())
      return absl::InvalidArgumentError(absl::StrCat(rest.size(), " bytes follow the last member"));
    return result;
  }

  const int dim_;
  const XgboostOptions options_;
  State state_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CostModel>> MakeXgboostModel(int dim, const XgboostOptions& options) {
  const std::pair<bool, absl::string_view> ranges[] = {
      {dim > 0, "dim must be at least 1"},
      {options.shrinkage > 0 && options.shrinkage <= 1, "shrinkage must be in (0, 1]"},
      {options.regularization >= 0, "regularization must be at least 0"},
      {options.rebuild_growth > 1, "rebuild_growth must be more than 1"},
      {options.first_trees >= 1, "first_trees must be at least 1"},
      {options.more_trees >= 1, "more_trees must be at least 1"},
      {options.most_trees >= options.first_trees, "most_trees must be at least first_trees"},
      {options.depth >= 1 && options.depth <= 16, "depth must be in 1 to 16"},
      {options.members >= 1 && options.members <= 64, "members must be in 1 to 64"},
      {options.bins >= 2 && options.bins <= 256, "bins must be in 2 to 256"},
      {options.loss.least_throughput > 0 && options.loss.least_throughput < 1,
       "loss.least_throughput must be in (0, 1)"},
      {options.loss.pairs_per_program >= 1, "loss.pairs_per_program must be at least 1"},
  };
  for (const auto& [holds, message] : ranges) {
    if (!holds) return absl::InvalidArgumentError(absl::StrCat("XGBoost cost model: ", message));
  }
  return std::make_unique<XgboostModel>(dim, options);
}

std::string XgboostVersion() {
  int major = 0, minor = 0, patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return absl::StrCat(major, ".", minor, ".", patch);
}

}  // namespace kiln

#include "search/cost/xgboost_model.h"

#include <xgboost/c_api.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lang/check.h"

namespace kiln {
namespace {

constexpr absl::string_view kMagic = "kiln.xgboost";
constexpr absl::string_view kVersion = "v1";

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

std::string LibraryVersion() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return absl::StrCat(major, ".", minor, ".", patch);
}

absl::string_view LossName(Loss loss) { return loss == Loss::kPairwise ? "pairwise" : "squared-error"; }

std::string ArrayInterface(const FeatureBatch& batch) {
  return absl::StrFormat(R"({"data":[%u,true],"shape":[%d,%d],"typestr":"<f4","version":3})",
                         reinterpret_cast<uintptr_t>(batch.values.data()), batch.rows(), batch.dim);
}

std::string PredictConfig(bool training) {
  return absl::StrCat(
      R"({"type":1,"training":)", training ? "true" : "false",
      R"(,"iteration_begin":0,"iteration_end":0,"strict_shape":false,"cache_id":0,"missing":NaN})");
}

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

struct State {
  int trees = 0;
  int rebuilt_at = 0;  // programs known when training last started from nothing
  std::string model;   // the trees as the library saves them; empty without trees
};

class XgboostModel final : public CostModel {
 public:
  XgboostModel(int dim, const XgboostOptions& options) : dim_(dim), options_(options) {}

  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override {
    if (absl::Status s = CheckFeatures(programs, dim_); !s.ok()) return s;
    if (state_.trees == 0 || programs.rows() == 0) return Guesses(programs);
    const bst_ulong* shape = nullptr;
    bst_ulong rank = 0;
    const float* rows = nullptr;
    const int code = XGBoosterPredictFromDense(booster_.get(), ArrayInterface(programs).c_str(),
                                               PredictConfig(false).c_str(), nullptr, &shape, &rank, &rows);
    if (absl::Status s = Checked(code, "predict"); !s.ok()) return s;
    KILN_CHECK(rank >= 1 && shape[0] == static_cast<bst_ulong>(programs.rows()));
    return SumRows(programs, rows);
  }

  bool Informed() const override { return options_.guess != nullptr; }

  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override {
    if (absl::Status s = CheckFeatures(programs, dim_); !s.ok()) return s;
    if (absl::Status s = CheckLabels(programs, labels); !s.ok()) return s;
    if (programs.rows() == 0) return absl::OkStatus();

    const bool rebuild = state_.trees == 0 ||
                         programs.programs() >= options_.rebuild_growth * state_.rebuilt_at ||
                         state_.trees + options_.more_trees > options_.most_trees;
    State next;
    next.trees = rebuild ? options_.first_trees : state_.trees + options_.more_trees;
    next.rebuilt_at = rebuild ? programs.programs() : state_.rebuilt_at;

    absl::StatusOr<Booster> booster = MakeBooster(rebuild ? "" : state_.model);
    if (!booster.ok()) return booster.status();
    absl::Status trained = Train(booster->get(), programs, labels, next.trees - (rebuild ? 0 : state_.trees));
    if (!trained.ok()) return trained;

    bst_ulong size = 0;
    const char* bytes = nullptr;
    const int code = XGBoosterSaveModelToBuffer(booster->get(), R"({"format":"ubj"})", &size, &bytes);
    if (absl::Status s = Checked(code, "save its trees"); !s.ok()) return s;
    next.model.assign(bytes, size);
    return Become(std::move(next));
  }

  absl::StatusOr<std::string> Save() const override {
    const std::string head = absl::StrCat(kMagic, " ", kVersion, " xgboost=", LibraryVersion(), " dim=", dim_,
                                          " loss=", LossName(options_.loss.kind), " trees=", state_.trees,
                                          " programs=", state_.rebuilt_at, " bytes=", state_.model.size());
    return absl::StrCat(head, absl::StrFormat(" check=%016x\n", Fnv1a(state_.model, Fnv1a(head))),
                        state_.model);
  }

  absl::Status Load(absl::string_view bytes) override {
    absl::StatusOr<State> state = Parse(bytes);
    if (!state.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot load the XGBoost cost model: ", state.status().message()));
    }
    return Become(*std::move(state));
  }

 private:
  std::vector<double> Guesses(const FeatureBatch& programs) const {
    std::vector<double> guesses(programs.programs(), 0.0);
    if (!options_.guess) return guesses;
    for (int p = 0; p < programs.programs(); ++p) {
      const size_t begin = size_t(programs.first_row[p]) * dim_,
                   end = size_t(programs.first_row[p + 1]) * dim_;
      guesses[p] = options_.guess(absl::MakeConstSpan(programs.values).subspan(begin, end - begin));
    }
    return guesses;
  }

  absl::StatusOr<Booster> MakeBooster(absl::string_view model) const {
    if (absl::Status s = Checked(XGBSetGlobalConfig(R"({"verbosity":0})"), "be silent"); !s.ok()) return s;
    BoosterHandle handle = nullptr;
    if (absl::Status s = Checked(XGBoosterCreate(nullptr, 0, &handle), "make a booster"); !s.ok()) return s;
    Booster booster(handle);
    if (!model.empty()) {
      const int code = XGBoosterLoadModelFromBuffer(handle, model.data(), model.size());
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

  // Rows of one program move together: n times the curvature of the sum bounds what n rows do at once.
  absl::Status Train(BoosterHandle booster, const FeatureBatch& programs,
                     absl::Span<const TrainingLabel> labels, int trees) const {
    DMatrixHandle handle = nullptr;
    int code =
        XGDMatrixCreateFromDense(ArrayInterface(programs).c_str(), R"({"missing":NaN,"nthread":1})", &handle);
    if (absl::Status s = Checked(code, "take the features"); !s.ok()) return s;
    const Matrix matrix(handle);

    const SumLoss loss(options_.loss, labels);
    std::vector<double> first;
    std::vector<double> second;
    std::vector<float> row_first(programs.rows());
    std::vector<float> row_second(programs.rows());
    for (int t = 0; t < trees; ++t) {
      const bst_ulong* shape = nullptr;
      bst_ulong rank = 0;
      const float* rows = nullptr;
      code = XGBoosterPredictFromDMatrix(booster, handle, PredictConfig(true).c_str(), &shape, &rank, &rows);
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
      code = XGBoosterBoostOneIter(booster, handle, row_first.data(), row_second.data(), row_first.size());
      if (absl::Status s = Checked(code, "grow a tree"); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status Become(State next) {
    Booster booster;
    if (next.trees > 0) {
      absl::StatusOr<Booster> made = MakeBooster(next.model);
      if (!made.ok()) return made.status();
      booster = *std::move(made);
    }
    state_ = std::move(next);
    booster_ = std::move(booster);
    return absl::OkStatus();
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
    if (absl::Status s = expect("XGBoost", field(2, "xgboost"), LibraryVersion()); !s.ok()) return s;
    if (absl::Status s = expect("features a row", field(3, "dim"), absl::StrCat(dim_)); !s.ok()) return s;
    if (absl::Status s = expect("loss", field(4, "loss"), LossName(options_.loss.kind)); !s.ok()) return s;

    State state;
    size_t size = 0;
    if (fields.size() != 9 || !absl::SimpleAtoi(field(5, "trees"), &state.trees) || state.trees < 0 ||
        !absl::SimpleAtoi(field(6, "programs"), &state.rebuilt_at) ||
        !absl::SimpleAtoi(field(7, "bytes"), &size)) {
      return absl::InvalidArgumentError("its first line is damaged");
    }
    if (size != halves.second.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "its first line promises ", size, " bytes of trees, but ", halves.second.size(), " follow"));
    }
    const absl::string_view head = halves.first.substr(0, halves.first.rfind(" check="));
    if (field(8, "check") != absl::StrFormat("%016x", Fnv1a(halves.second, Fnv1a(head)))) {
      return absl::InvalidArgumentError("its check sum does not match: the bytes are damaged");
    }
    state.model = std::string(halves.second);
    return state;
  }

  const int dim_;
  const XgboostOptions options_;
  State state_;
  Booster booster_;  // made from state_; null without trees
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

// Who makes the random choices of a schedule (design D4): the one door. Primitives do not know which chooser
// is at work.
//
// Random, replay and override are each a few lines; so is your own. Not thread safe: one chooser per
// schedule.
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "lang/choices/distribution.h"

namespace kiln {

// A sampling statement that has been reached.
struct Site {
  absl::string_view name;  // module/block/label#n, unique in its trace
  int step = 0;            // index of the step in its trace
  const Distribution& distribution;
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // A decision for the site. One outside of the support makes the schedule inert, with a status that says so.
  virtual Decision Choose(const Site& site) = 0;
  // 0 .. n-1: a structural choice, which host code may branch on.
  virtual int ChooseStructure(absl::string_view name, int n) = 0;
};

// Draws from the prior; structure uniformly.
class RandomChooser : public Chooser {
 public:
  explicit RandomChooser(Dice& dice) : dice_(dice) {}
  Decision Choose(const Site& site) override { return site.distribution.Sample(dice_); }
  int ChooseStructure(absl::string_view, int n) override { return static_cast<int>(dice_.Below(n)); }

 private:
  Dice& dice_;
};

// Given decisions by site name; others, and those out of support, are left to another chooser.
class OverrideChooser : public Chooser {
 public:
  OverrideChooser(std::map<std::string, Decision> decisions, Chooser& others)
      : decisions_(std::move(decisions)), others_(others) {}
  Decision Choose(const Site& site) override {
    const auto it = decisions_.find(std::string(site.name));
    return it != decisions_.end() && site.distribution.Contains(it->second) ? it->second
                                                                            : others_.Choose(site);
  }
  int ChooseStructure(absl::string_view name, int n) override { return others_.ChooseStructure(name, n); }

 private:
  std::map<std::string, Decision> decisions_;
  Chooser& others_;
};

}  // namespace kiln

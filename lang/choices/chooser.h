// A Chooser makes the random choices of a schedule (design D4). All choices go through this interface, so
// primitives do not depend on the kind of chooser.
//
// Choosers for random, replayed and overridden decisions take a few lines each, and so does your own. Not
// thread safe: use one chooser per schedule.
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "lang/choices/distribution.h"

namespace kiln {

// A sampling site that the schedule has reached, for which the chooser must decide.
struct Site {
  absl::string_view name;  // module/block/label#n, unique in its trace
  int step = 0;            // index of the step in its trace
  const Distribution& distribution;
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // Returns a decision for the site. A decision outside the support makes the schedule inert.
  virtual Decision Choose(const Site& site) = 0;
  // Makes the structural choice `name` and returns it, a number in 0 .. n-1. Host code may branch on it.
  virtual int ChooseStructure(absl::string_view name, int n) = 0;
};

// Draws decisions from the prior, and structural choices uniformly.
class RandomChooser : public Chooser {
 public:
  explicit RandomChooser(Dice& dice) : dice_(dice) {}
  Decision Choose(const Site& site) override { return site.distribution.Sample(dice_); }
  int ChooseStructure(absl::string_view, int n) override { return static_cast<int>(dice_.Below(n)); }

 private:
  Dice& dice_;
};

// Takes decisions for sites by name from a map. Asks another chooser for structural choices, and for sites without a
// decision in the map that is in the site's support.
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

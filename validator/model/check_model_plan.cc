#include "validator/model/check_model_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "validator/model/byte_owners.h"
#include "validator/model/copy_in_order.h"

namespace kiln {
namespace {

using Area = Location::Area;

// The buffers through which the blocks of a call exchange data with the rest of the model.
struct Exchange {
  std::set<Id> reads, writes;
};

class Replay {
 public:
  Replay(const Program& model, const ModelPlan& plan, absl::Span<const ForeignCall> foreign)
      : p_(model),
        plan_(plan),
        foreign_(foreign),
        arena_(std::max<int64_t>(plan.arena_bytes, 0)),
        scratch_(std::max<int64_t>(plan.scratch_bytes, 0)),
        call_of_(model.nodes.size(), -1),
        writer_(model.buffers.size(), -1),
        written_(model.buffers.size(), -1) {}

  absl::StatusOr<ModelPlanReport> Run() {
    if (plan_.buffers.size() != p_.buffers.size()) return Wrong("the plan is of another model");
    if (auto status = AssignBlocks(); !status.ok()) return status;
    if (auto status = CheckAreas(); !status.ok()) return status;
    if (auto status = CheckViews(); !status.ok()) return status;
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      if (auto status = Step(static_cast<int>(c)); !status.ok()) return status;
    }
    if (auto status = CheckResults(); !status.ok()) return status;
    return ModelPlanReport{.bytes_alive = BytesAlive()};
  }

 private:
  template <typename... Parts>
  static absl::Status Wrong(const Parts&... parts) {
    return absl::InternalError(absl::StrCat("the plan of the model is wrong: ", parts...));
  }
  std::string Name(Id buffer) const { return std::string(p_.Text(p_.buffers[buffer].name)); }

  // Checks that each block is in one call, except blocks whose results nothing needs and those that views replace.
  absl::Status AssignBlocks() {
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      for (const Id block : plan_.calls[c].blocks) {
        if (block < 0 || block >= static_cast<Id>(p_.nodes.size()) || !p_.IsBlock(block))
          return Wrong("call ", c, " names node ", block, ", which is no block");
        if (call_of_[block] >= 0)
          return Wrong("block \"", p_.Text(p_.block(block).name), "\" is in calls ", call_of_[block], " and ",
                       c);
        call_of_[block] = static_cast<int>(c);
      }
    }
    for (const ModelView& view : plan_.views) {
      if (view.copy < 0 || view.copy >= static_cast<Id>(p_.nodes.size()) || !p_.IsBlock(view.copy) ||
          call_of_[view.copy] >= 0 || !view_by_copy_.emplace(view.copy, &view).second ||
          !view_by_part_.emplace(view.part, &view).second)
        return Wrong("a view stands for node ", view.copy, ", which is no block without a call");
      if (view.slice) {
        sliced_.insert(view.whole);
      } else {
        views_of_[view.whole].push_back(&view);
      }
    }
    if (auto status = AssignForeign(); !status.ok()) return status;
    const std::vector<Id> blocks = Blocks(p_);
    std::set<Id> needed;
    for (const ForeignCall& call : foreign_) needed.insert(call.reads.begin(), call.reads.end());
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      bool matters = false;
      for (const Id buffer : WrittenBuffers(p_, *block))
        matters = matters || p_.buffers[buffer].role != Role::kTemporary || needed.contains(buffer);
      if (!matters) continue;
      for (const Id buffer : ReadBuffers(p_, *block)) needed.insert(buffer);
      if (call_of_[*block] < 0 && !view_by_copy_.contains(*block))
        return Wrong("no call computes block \"", p_.Text(p_.block(*block).name), "\"");
    }
    return FindExchanges(blocks);
  }

  // Checks that each foreign call is in the plan once, and takes what it reads, then what it writes.
  absl::Status AssignForeign() const {
    std::vector<int> call_of(foreign_.size(), -1);
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      const ModelCall& call = plan_.calls[c];
      if (call.foreign < 0) continue;
      if (call.foreign >= static_cast<int>(foreign_.size()))
        return Wrong("call ", c, " names foreign call ", call.foreign, " of ", foreign_.size());
      int& first = call_of[call.foreign];
      if (first >= 0) return Wrong("calls ", first, " and ", c, " are one foreign call");
      first = static_cast<int>(c);
      const ForeignCall& wanted = foreign_[call.foreign];
      std::vector<Id> buffers = wanted.reads;
      buffers.insert(buffers.end(), wanted.writes.begin(), wanted.writes.end());
      if (call.buffers != buffers) return Wrong("call ", c, " takes other buffers than ", wanted.name);
      if (!call.blocks.empty() || call.prepares || !call.prepared.empty())
        return Wrong("call ", c, " is foreign, and is a task too");
    }
    for (size_t f = 0; f < foreign_.size(); ++f) {
      if (call_of[f] < 0) return Wrong("no call runs the foreign ", foreign_[f].name);
    }
    return absl::OkStatus();
  }

  absl::Status FindExchanges(const std::vector<Id>& blocks) {
    exchanges_.resize(plan_.calls.size());
    std::vector<std::set<int>> writers(p_.buffers.size()), users(p_.buffers.size());
    for (const Id block : blocks) {
      if (call_of_[block] < 0) continue;
      for (const Id b : WrittenBuffers(p_, block)) writers[b].insert(call_of_[block]);
      for (const Id b : ReadBuffers(p_, block)) users[b].insert(call_of_[block]);
    }
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      if (plan_.calls[c].foreign < 0) continue;
      const ForeignCall& call = foreign_[plan_.calls[c].foreign];
      for (const Id b : call.writes) writers[b].insert(static_cast<int>(c));
      for (const Id b : call.reads) users[b].insert(static_cast<int>(c));
    }
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      if (p_.buffers[b].role == Role::kStatus || HasBytes(b)) continue;
      if (writers[b].size() > 1) return Wrong(writers[b].size(), " calls write ", Name(b));
      if (!writers[b].empty() && views_of_.contains(b)) return Wrong("a call and a view write ", Name(b));
      for (const int user : users[b]) {
        if (!writers[b].contains(user)) exchanges_[user].reads.insert(b);
      }
      for (const int writer : writers[b]) {
        writer_[b] = writer;
        users[b].erase(writer);
        const bool leaves = p_.buffers[b].role != Role::kTemporary || plan_.calls[writer].foreign >= 0;
        if (!users[b].empty() || leaves || view_by_part_.contains(b) || sliced_.contains(b))
          exchanges_[writer].writes.insert(b);
      }
    }
    return CheckOrderOfBlocks(blocks, writers);
  }

  // Checks that no block of the model writes a buffer after a block of another call has read it. So a call never sees a
  // version in between.
  absl::Status CheckOrderOfBlocks(const std::vector<Id>& blocks, const std::vector<std::set<int>>& writers) {
    std::set<Id> read;
    for (const Id block : blocks) {
      const bool is_view = view_by_copy_.contains(block);
      if (call_of_[block] < 0 && !is_view) continue;
      for (const Id b : WrittenBuffers(p_, block)) {
        if (read.contains(b))
          return Wrong("block \"", p_.Text(p_.block(block).name), "\" writes ", Name(b),
                       ", which another call reads before");
      }
      for (const Id b : ReadBuffers(p_, block)) {
        const bool another_writes = !writers[b].empty() && !writers[b].contains(call_of_[block]);
        if (is_view || another_writes || views_of_.contains(b)) read.insert(b);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckViews() const {
    for (const ModelView& view : plan_.views) {
      const std::string what = absl::StrCat(Name(view.part), " as a part of ", Name(view.whole));
      if (SizeInBytes(p_, view.part) >= SizeInBytes(p_, view.whole) || !IsCopyInOrder(p_, view))
        return Wrong(what, " is no copy in order");
      const Location &part = plan_.buffers[view.part], &whole = plan_.buffers[view.whole];
      if (part.area != Area::kArena || whole.area != Area::kArena ||
          part.offset != whole.offset + view.offset)
        return Wrong(what, " lies elsewhere");
    }
    for (const auto& [whole, views] : views_of_) {
      std::map<int64_t, int64_t> parts;  // by offset: the bytes
      for (const ModelView* view : views) {
        if (!parts.emplace(view->offset, SizeInBytes(p_, view->part)).second)
          return Wrong("two views write ", Name(whole), " at ", view->offset);
      }
      int64_t end = 0;
      for (const auto& [offset, bytes] : parts) {
        if (offset != end) return Wrong("views leave a gap, or overlap, at ", end, " of ", Name(whole));
        end += bytes;
      }
      if (end != SizeInBytes(p_, whole)) return Wrong("views write ", end, " bytes of ", Name(whole));
    }
    return absl::OkStatus();
  }

  // True for a constant that is part of the code of its task.
  bool HasBytes(Id buffer) const { return p_.buffers[buffer].data != kNone; }

  // True if the prepare phase computes the buffer.
  bool IsPrepared(Id buffer) const {
    return writer_[buffer] >= 0 && plan_.calls[writer_[buffer]].prepares &&
           p_.buffers[buffer].role == Role::kTemporary;
  }

  absl::Status CheckPart(const Location& part, absl::string_view what) const {
    const int64_t size = part.area == Area::kArena     ? plan_.arena_bytes
                         : part.area == Area::kScratch ? plan_.scratch_bytes
                                                       : plan_.weights_bytes;
    if (part.offset < 0 || part.bytes < 0 || part.bytes > size - part.offset)
      return Wrong(what, " lies at ", part.offset, " to ", part.offset + part.bytes, " of ", size, " bytes");
    if (part.offset % kModelAlignment != 0)
      return Wrong(what, " lies at ", part.offset, ", which is not aligned");
    return absl::OkStatus();
  }

  // True if a buffer may lie in an area: the arena is for temporaries of the main phase, the weights for constants and
  // for temporaries that the prepare phase computes, the scratch area for the latter only. False for other areas.
  bool Suits(Id buffer, Area area) const {
    const Role role = p_.buffers[buffer].role;
    switch (area) {
      case Area::kArena:
        return role == Role::kTemporary && !IsPrepared(buffer);
      case Area::kScratch:
        return IsPrepared(buffer);
      case Area::kWeights:
        return role == Role::kConstant || IsPrepared(buffer);
      default:
        return false;
    }
  }

  // Checks that buffers have places of their size and kind, and that parts of the weights do not overlap.
  absl::Status CheckAreas() {
    std::vector<std::pair<Location, std::string>> weights;
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      const Location& at = plan_.buffers[b];
      if (at.area == Area::kNone) continue;
      if (at.bytes != SizeInBytes(p_, b))
        return Wrong(Name(b), " has ", at.bytes, " bytes, wanted ", SizeInBytes(p_, b));
      if (at.area == Area::kParameter) {
        const bool is_it = at.offset >= 0 && at.offset < static_cast<int64_t>(p_.parameters.size()) &&
                           p_.parameters[at.offset] == b && p_.buffers[b].role != Role::kConstant;
        if (!is_it) return Wrong(Name(b), " is not parameter ", at.offset);
        continue;
      }
      if (!Suits(b, at.area)) return Wrong(Name(b), " lies in the wrong area");
      if (auto status = CheckPart(at, Name(b)); !status.ok()) return status;
      if (at.area == Area::kWeights) weights.push_back({at, Name(b)});
    }
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      if (auto status = CheckOwnAreas(static_cast<int>(c), &weights); !status.ok()) return status;
    }
    return CheckDisjoint(weights);
  }

  // True if an earlier call of the same task prepares the same constants into the same places of the weights. Then
  // the two calls share these places.
  bool IsPreparedBefore(int c) const {
    const ModelCall& call = plan_.calls[c];
    const auto is_constant = [&](Id b) { return p_.buffers[b].role == Role::kConstant || IsPrepared(b); };
    for (int earlier = 0; earlier < c; ++earlier) {
      const ModelCall& other = plan_.calls[earlier];
      if (other.task != call.task || other.buffers.size() != call.buffers.size()) continue;
      bool is_same = other.prepared.size() == call.prepared.size();
      for (size_t i = 0; is_same && i < call.prepared.size(); ++i)
        is_same = other.prepared[i].offset == call.prepared[i].offset &&
                  other.prepared[i].bytes == call.prepared[i].bytes;
      for (size_t i = 0; is_same && i < call.buffers.size(); ++i) {
        is_same = is_constant(call.buffers[i]) == is_constant(other.buffers[i]) &&
                  (!is_constant(call.buffers[i]) || call.buffers[i] == other.buffers[i]);
      }
      if (is_same) return true;
    }
    return false;
  }

  // Checks the memory that a call has for itself: what it prepares, and its workspaces. Adds to `weights` what no
  // earlier call prepares.
  absl::Status CheckOwnAreas(int c, std::vector<std::pair<Location, std::string>>* weights) const {
    const ModelCall& call = plan_.calls[c];
    for (const Location& at : call.prepared) {
      const std::string what = absl::StrCat("what is prepared for call ", c);
      if (at.area != Area::kWeights) return Wrong(what, " is not in the weights");
      if (auto status = CheckPart(at, what); !status.ok()) return status;
      if (!IsPreparedBefore(c)) weights->push_back({at, what});
    }
    for (const Location& at : call.workspaces) {
      const std::string what = absl::StrCat("a workspace of call ", c);
      if (at.area != WorkArea(call))
        return Wrong(what, call.prepares ? " is not in the scratch area" : " is not in the arena");
      if (auto status = CheckPart(at, what); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Returns the area for the workspaces and temporaries of a call: the scratch area for a call of the prepare phase,
  // otherwise the arena.
  static Area WorkArea(const ModelCall& call) { return call.prepares ? Area::kScratch : Area::kArena; }
  ByteOwners& OwnersOf(Area area) { return area == Area::kArena ? arena_ : scratch_; }
  const ByteOwners& OwnersOf(Area area) const { return area == Area::kArena ? arena_ : scratch_; }

  static absl::Status CheckDisjoint(std::vector<std::pair<Location, std::string>> parts) {
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.first.offset < b.first.offset; });
    for (size_t i = 1; i < parts.size(); ++i) {
      if (parts[i - 1].first.offset + parts[i - 1].first.bytes > parts[i].first.offset)
        return Wrong(parts[i - 1].second, " and ", parts[i].second, " overlap");
    }
    return absl::OkStatus();
  }

  // Checks that the call lists all buffers that its blocks exchange with other calls, each once, and no other buffers
  // except inputs, scalars, constants and outputs of the model.
  absl::Status CheckBuffers(int c) const {
    const ModelCall& call = plan_.calls[c];
    const Exchange& exchange = exchanges_[c];
    if (call.read_by_prepare.size() != call.buffers.size())
      return Wrong("call ", c, " has ", call.read_by_prepare.size(), " marks for ", call.buffers.size(),
                   " buffers");
    const std::set<Id> listed(call.buffers.begin(), call.buffers.end());
    std::set<Id> wanted = exchange.reads;
    wanted.insert(exchange.writes.begin(), exchange.writes.end());
    if (listed.size() != call.buffers.size()) return Wrong("call ", c, " lists a buffer twice");
    for (const Id b : wanted) {
      if (!listed.contains(b)) return Wrong("call ", c, " lacks ", Name(b));
    }
    for (const Id b : listed) {
      const bool serves =
          wanted.contains(b) || IsGiven(p_.buffers[b].role) || p_.buffers[b].role == Role::kOutput;
      if (!serves) return Wrong("call ", c, " does not use ", Name(b));
    }
    return absl::OkStatus();
  }

  absl::Status CheckReads(int c) const {
    const ModelCall& call = plan_.calls[c];
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const Id b = call.buffers[i];
      if (!exchanges_[c].reads.contains(b)) continue;
      const std::string what = absl::StrCat("call ", c, " reads ", Name(b));
      const bool in_prepare_phase = call.prepares || call.read_by_prepare[i] != 0;
      const bool is_constant = p_.buffers[b].role == Role::kConstant;
      if (in_prepare_phase && !is_constant && !IsPrepared(b))
        return Wrong(what, " in the prepare phase, and it is no constant");
      if (!in_prepare_phase && (is_constant || IsPrepared(b)) && plan_.buffers[b].area != Area::kWeights)
        return Wrong(what, ", which is not in the weights");
      if (is_constant) continue;
      if (auto status = CheckIsThere(b, what); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Checks that the buffer has a place, and that all of its bytes there were written and are not overwritten. For a
  // buffer that views write, checks the parts instead. For a slice, checks the buffer that it is cut from. `what`
  // begins the message of the error.
  absl::Status CheckIsThere(Id b, const std::string& what) const {
    const Location& at = plan_.buffers[b];
    const bool is_parameter = p_.buffers[b].role != Role::kTemporary;
    if (at.area == Area::kNone || (at.area == Area::kParameter) != is_parameter)
      return Wrong(what, ", which has no place");
    if (const auto views = views_of_.find(b); views != views_of_.end()) {
      for (const ModelView* view : views->second) {
        if (auto status = CheckIsThere(view->part, what); !status.ok()) return status;
      }
      return absl::OkStatus();
    }
    if (const auto view = view_by_part_.find(b); view != view_by_part_.end() && view->second->slice)
      return CheckIsThere(view->second->whole, what);
    if (!IsGiven(p_.buffers[b].role) && written_[b] < 0) return Wrong(what, " before it is written");
    if (at.area != Area::kArena && at.area != Area::kScratch) return absl::OkStatus();
    if (!OwnersOf(at.area).OwnsAll(at.offset, at.offset + at.bytes, b))
      return Wrong(what, ", which is overwritten");
    return absl::OkStatus();
  }

  absl::Status Step(int c) {
    if (auto status = CheckBuffers(c); !status.ok()) return status;
    if (auto status = CheckReads(c); !status.ok()) return status;
    const ModelCall& call = plan_.calls[c];
    std::vector<std::pair<Location, std::string>> used;
    for (const Id b : call.buffers) {
      if (plan_.buffers[b].area == WorkArea(call) && !IsReadInWhole(c, b))
        used.push_back({plan_.buffers[b], Name(b)});
    }
    for (const Location& at : call.workspaces) used.push_back({at, absl::StrCat("a workspace of call ", c)});
    if (auto status = CheckDisjoint(used); !status.ok()) return status;
    for (const Location& at : call.workspaces)
      OwnersOf(WorkArea(call)).Set(at.offset, at.offset + at.bytes, kNone);
    for (const Id b : exchanges_[c].writes) {
      const Location& at = plan_.buffers[b];
      const bool is_temporary = p_.buffers[b].role == Role::kTemporary;
      if (at.area == Area::kNone || (at.area == Area::kParameter) == is_temporary)
        return Wrong("call ", c, " writes ", Name(b), ", which has no place");
      if (call.prepares && !is_temporary)
        return Wrong("call ", c, " writes ", Name(b), " in the prepare phase");
      if (at.area == Area::kArena || at.area == Area::kScratch)
        OwnersOf(at.area).Set(at.offset, at.offset + at.bytes, b);
      written_[b] = c;
    }
    for (const Id b : exchanges_[c].reads) NoteRead(b, c);
    return absl::OkStatus();
  }

  // True if the call only reads the buffer `b`, and also reads a buffer of which `b` is a part.
  bool IsReadInWhole(int c, Id b) const {
    if (exchanges_[c].writes.contains(b)) return false;
    for (auto view = view_by_part_.find(b); view != view_by_part_.end();
         view = view_by_part_.find(view->second->whole)) {
      if (exchanges_[c].reads.contains(view->second->whole)) return true;
    }
    return false;
  }

  void NoteRead(Id b, int c) {
    last_read_[b] = c;
    if (const auto views = views_of_.find(b); views != views_of_.end()) {
      for (const ModelView* view : views->second) NoteRead(view->part, c);
    }
    if (const auto view = view_by_part_.find(b); view != view_by_part_.end() && view->second->slice)
      NoteRead(view->second->whole, c);
  }

  absl::Status CheckResults() const {
    for (const Id b : p_.parameters) {
      if (p_.buffers[b].role == Role::kOutput && written_[b] < 0)
        return Wrong("nothing writes the result ", Name(b));
    }
    return absl::OkStatus();
  }

  int64_t BytesAlive() const {
    std::vector<int64_t> alive(plan_.calls.size());
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      for (const Location& at : plan_.calls[c].workspaces) alive[c] += at.area == Area::kArena ? at.bytes : 0;
    }
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      if (plan_.buffers[b].area != Area::kArena || written_[b] < 0) continue;
      const auto last = last_read_.find(b);
      for (int c = written_[b]; c <= (last == last_read_.end() ? written_[b] : last->second); ++c)
        alive[c] += plan_.buffers[b].bytes;
    }
    return alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
  }

  const Program& p_;
  const ModelPlan& plan_;
  const absl::Span<const ForeignCall> foreign_;
  ByteOwners arena_, scratch_;
  std::vector<int> call_of_;  // by node
  std::vector<int> writer_;   // by buffer: the call that computes it, or -1
  std::vector<int> written_;  // by buffer: the call that wrote it so far, or -1
  std::map<Id, int> last_read_;
  std::map<Id, const ModelView*> view_by_copy_, view_by_part_;
  std::map<Id, std::vector<const ModelView*>> views_of_;  // by the whole: those that write it
  std::set<Id> sliced_;                                   // the wholes of slices
  std::vector<Exchange> exchanges_;                       // by call
};

}  // namespace

absl::StatusOr<ModelPlanReport> CheckModelPlan(const Program& model, const ModelPlan& plan,
                                               absl::Span<const ForeignCall> foreign) {
  return Replay(model, plan, foreign).Run();
}

}  // namespace kiln

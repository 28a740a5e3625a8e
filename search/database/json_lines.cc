#include "search/database/json_lines.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lang/schedule/primitive.h"
#include "nlohmann/json.hpp"
#include "trace/text.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "kiln-records";
constexpr int kVersion = 1;

Json ToJson(const std::string& text) {
  try {
    Json(text).dump();
    return text;
  } catch (const Json::type_error&) {  // the text is not UTF-8
    return Json{{"base64", absl::Base64Escape(text)}};
  }
}

Json ToJson(const WorkloadRow& row) {
  return {{"id", row.id}, {"hash", row.hash}, {"name", ToJson(row.name)}, {"program", ToJson(row.program)}};
}

Json ToJson(const TargetRow& row) {
  return {{"id", row.id}, {"text", ToJson(row.text)}, {"fingerprint", ToJson(row.fingerprint)}};
}

Json ToJson(const RunRow& row) {
  return {{"id", row.id},
          {"uid", row.uid},
          {"command", ToJson(row.command)},
          {"options", ToJson(row.options)},
          {"seed", row.seed},
          {"kiln", ToJson(row.kiln_version)},
          {"llvm", ToJson(row.llvm_version)},
          {"xgboost", ToJson(row.xgboost_version)},
          {"started", row.started}};
}

Json ToJson(const RecordRow& row) {
  return {{"workload", row.workload},
          {"target", row.target},
          {"run", row.run},
          {"task", row.task},
          {"round", row.round},
          {"trial", row.trial},
          {"sketch", ToJson(row.sketch)},
          {"trace", ToJson(row.trace)},
          {"program_hash", row.program_hash},
          {"samples", row.samples},
          {"status", ToJson(row.status)},
          {"error", ToJson(row.error)},
          {"lower_bound", row.lower_bound},
          {"flags", ToJson(row.flags.Print())},
          {"verified", row.verified},
          {"created", row.created},
          {"taken", row.raw_samples},
          {"assumptions", ToJson(row.assumptions)},
          {"place", ToJson(row.place)},
          {"facts", Json::parse(row.facts)}};
}

// Returns the assumptions about data that a trace makes, for records of older exports, which have no field for them. A
// trace that does not parse counts as one without assumptions.
std::string AssumptionsOfTrace(absl::string_view text) {
  const absl::StatusOr<Trace> trace = ParseTrace(text);
  return trace.ok() ? AssumptionsOf(trace->steps) : "";
}

// Reads the fields of one JSON object. Keeps the first problem as the status; from then on, fields are empty or 0.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {
    if (!object.is_object()) Fail("an object is expected");
  }

  std::string Text(const char* field) {
    const Json* value = Find(field);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    std::string bytes;
    const bool encoded = value->is_object() && value->size() == 1 && value->contains("base64") &&
                         value->at("base64").is_string() &&
                         absl::Base64Unescape(value->at("base64").get<std::string>(), &bytes);
    if (!encoded) Fail(absl::StrCat("\"", field, "\" is not a string, nor {\"base64\":\"...\"}"));
    return bytes;
  }

  std::string Hash(const char* field) {
    const std::string hash = Text(field);
    if (const absl::Status valid = CheckHash(field, hash); status_.ok()) status_ = valid;
    return hash;
  }

  template <typename Number>
  Number Integer(const char* field) {
    const Json* value = Find(field);
    if (value == nullptr) return 0;
    if (value->is_number_unsigned()) {
      const uint64_t number = value->get<uint64_t>();
      if (std::in_range<Number>(number)) return static_cast<Number>(number);
    } else if (value->is_number_integer()) {
      const int64_t number = value->get<int64_t>();
      if (std::in_range<Number>(number)) return static_cast<Number>(number);
    }
    Fail(absl::StrCat("\"", field, "\" is not an integer between ", std::numeric_limits<Number>::min(),
                      " and ", std::numeric_limits<Number>::max()));
    return 0;
  }

  bool Bool(const char* field) {
    const Json* value = Find(field);
    if (value == nullptr) return false;
    if (!value->is_boolean()) Fail(absl::StrCat("\"", field, "\" is not true or false"));
    return value->is_boolean() && value->get<bool>();
  }

  std::string Object(const char* field) {
    const Json* value = Find(field);
    if (value != nullptr && !value->is_object()) Fail(absl::StrCat("\"", field, "\" is not an object"));
    return value != nullptr ? value->dump() : "{}";
  }

  bool Has(const char* field) const { return object_.is_object() && object_.contains(field); }

  std::vector<double> Doubles(const char* field) {
    const Json* value = Find(field);
    std::vector<double> numbers;
    if (value == nullptr) return numbers;
    if (!value->is_array()) Fail(absl::StrCat("\"", field, "\" is not a list of numbers"));
    for (const Json& number : value->is_array() ? *value : Json::array()) {
      if (!number.is_number()) Fail(absl::StrCat("\"", field, "\" is not a list of numbers"));
      numbers.push_back(number.is_number() ? number.get<double>() : 0);
    }
    return numbers;
  }

  // Reads an id that an earlier line must have defined; otherwise fails.
  RowId Reference(const char* field, const std::set<RowId>& defined) {
    const RowId id = Integer<RowId>(field);
    if (!defined.contains(id)) Fail(absl::StrCat("no line before this one defines ", field, " ", id));
    return id;
  }

  RowId Definition(std::set<RowId>& defined) {
    const RowId id = Integer<RowId>("id");
    if (id < 1) Fail("an id is positive");
    if (!defined.insert(id).second) Fail(absl::StrCat("id ", id, " is defined by a line before"));
    return id;
  }

  void Fail(absl::string_view what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(what);
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json* Find(const char* field) {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(field);
    if (found != object_.end()) return &*found;
    Fail(absl::StrCat("\"", field, "\" is missing"));
    return nullptr;
  }

  const Json& object_;
  absl::Status status_;
};

class Importer {
 public:
  absl::Status ReadLine(const std::string& line) {
    Json json;
    try {
      json = Json::parse(line);
    } catch (const Json::parse_error& error) {
      column_ = std::max<size_t>(error.byte, 1);
      return absl::InvalidArgumentError("the line is not JSON (is it cut off?)");
    } catch (const Json::out_of_range& error) {  // the error quotes the number that is out of range
      const std::vector<std::string> words = absl::StrSplit(error.what(), '\'');
      if (words.size() > 1) column_ = line.find(words[1]) + 1;
      return absl::InvalidArgumentError("the line has a number that no double holds");
    }
    if (!json.is_object()) return absl::InvalidArgumentError("an object is expected");
    if (!header_seen_) return ReadHeader(json);
    if (json.size() != 1)
      return absl::InvalidArgumentError("one of workload, target, run, record is expected");
    return ReadRow(json.begin().key(), json.begin().value());
  }

  bool header_seen() const { return header_seen_; }
  // Returns the column, from 1, at which a line stops being JSON or has a number that no double holds. Returns 0 if
  // there was no such line.
  size_t column() const { return column_; }
  const StoreContents& contents() const { return contents_; }

 private:
  absl::Status ReadHeader(const Json& json) {
    Reader reader(json);
    const std::string format = reader.Text("format");
    const int version = reader.Integer<int>("version");
    if (!reader.status().ok() || format != kFormat) {
      return absl::InvalidArgumentError(
          absl::StrCat("the first line must be {\"format\":\"", kFormat, "\",\"version\":", kVersion, "}"));
    }
    if (version != kVersion) {
      return absl::InvalidArgumentError(absl::StrCat("the text has version ", version,
                                                     " of the format; this Kiln reads version ", kVersion));
    }
    header_seen_ = true;
    return absl::OkStatus();
  }

  absl::Status ReadRow(const std::string& kind, const Json& json) {
    Reader r(json);
    if (kind == "workload") {
      contents_.workloads.push_back({.id = r.Definition(workloads_),
                                     .hash = r.Hash("hash"),
                                     .name = r.Text("name"),
                                     .program = r.Text("program")});
    } else if (kind == "target") {
      contents_.targets.push_back(
          {.id = r.Definition(targets_), .text = r.Text("text"), .fingerprint = r.Text("fingerprint")});
    } else if (kind == "run") {
      contents_.runs.push_back({.id = r.Definition(runs_),
                                .uid = r.Hash("uid"),
                                .command = r.Text("command"),
                                .options = r.Text("options"),
                                .seed = r.Integer<uint64_t>("seed"),
                                .kiln_version = r.Text("kiln"),
                                .llvm_version = r.Text("llvm"),
                                .xgboost_version = r.Text("xgboost"),
                                .started = r.Integer<int64_t>("started"),
                                .state = "",
                                .finished = true});
    } else if (kind == "record") {
      contents_.records.push_back(ReadRecord(r));
      if (const absl::Status valid = CheckRecord(contents_.records.back()); !valid.ok())
        r.Fail(valid.message());
    } else {
      r.Fail(absl::StrCat("unknown row \"", kind, "\": one of workload, target, run, record is expected"));
    }
    return r.status();
  }

  RecordRow ReadRecord(Reader& r) {
    return {
        .id = 0,
        .workload = r.Reference("workload", workloads_),
        .target = r.Reference("target", targets_),
        .run = r.Reference("run", runs_),
        .task = r.Integer<int>("task"),
        .round = r.Integer<int>("round"),
        .trial = r.Integer<int>("trial"),
        .sketch = r.Text("sketch"),
        .trace = r.Text("trace"),
        .program_hash = r.Hash("program_hash"),
        .samples = r.Doubles("samples"),
        .raw_samples = r.Has("taken") ? r.Doubles("taken") : std::vector<double>(),  // older exports lack it
        .status = r.Text("status"),
        .error = r.Text("error"),
        .lower_bound = r.Bool("lower_bound"),
        .flags = RecordFlags::Parse(r.Text("flags")),
        .verified = r.Bool("verified"),
        .assumptions = r.Has("assumptions") ? r.Text("assumptions") : AssumptionsOfTrace(r.Text("trace")),
        .place = r.Has("place") ? r.Text("place") : "",
        .facts = r.Has("facts") ? r.Object("facts") : "{}",
        .created = r.Integer<int64_t>("created")};
  }

  bool header_seen_ = false;
  size_t column_ = 0;
  std::set<RowId> workloads_, targets_, runs_;
  StoreContents contents_;
};

// Returns the column, from 1, of the quoted field with which an error message begins. Returns 1 if the message does not
// begin with a field, or the line does not have the field.
size_t Column(const std::string& line, absl::string_view message) {
  const size_t end = message.empty() || message[0] != '"' ? 0 : message.find('"', 1);
  const size_t at = end == 0 ? std::string::npos : line.find(std::string(message.substr(0, end + 1)));
  return at == std::string::npos ? 1 : at + 1;
}

template <typename Row>
void WriteRows(std::ostream& out, const char* kind, const std::vector<Row>& rows) {
  for (const Row& row : rows) out << Json{{kind, ToJson(row)}}.dump() << '\n';
}

}  // namespace

absl::StatusOr<int> ExportJson(Store& store, std::ostream& out) {
  const auto contents = store.ReadAll();
  if (!contents.ok()) return contents.status();
  out << Json{{"format", kFormat}, {"version", kVersion}}.dump() << '\n';
  WriteRows(out, "workload", contents->workloads);
  WriteRows(out, "target", contents->targets);
  WriteRows(out, "run", contents->runs);
  WriteRows(out, "record", contents->records);
  out.flush();
  if (!out.good()) return absl::UnavailableError("the export could not be written whole; is the disk full?");
  return static_cast<int>(contents->records.size());
}

absl::StatusOr<MergeResult> ImportJson(Store& store, std::istream& in, absl::string_view name) {
  Importer importer;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    if (const absl::Status read = importer.ReadLine(line); !read.ok()) {
      const size_t column = importer.column() != 0 ? importer.column() : Column(line, read.message());
      return absl::InvalidArgumentError(absl::StrCat(name, ":", number, ":", column, ": ", read.message()));
    }
  }
  if (in.bad()) return absl::UnavailableError(absl::StrCat(name, " could not be read to its end"));
  if (!importer.header_seen())
    return absl::InvalidArgumentError(absl::StrCat(name, ":1:1: the input is empty"));
  return store.Merge(importer.contents());
}

}  // namespace kiln

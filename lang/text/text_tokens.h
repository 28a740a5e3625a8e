// Splits a program's text into tokens and reads them one by one. A private part of the parser.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lang/program/buffer.h"
#include "lang/program/ids.h"
#include "lang/program/nodes.h"

namespace kiln {

struct Token {
  enum class Kind { kName, kQuoted, kNumber, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  int line = 1, column = 1;
};

// Splits a text into tokens, of which the last is kEnd. An unterminated string becomes a kSign, which no rule accepts.
std::vector<Token> Tokenize(absl::string_view text);

// Reads tokens one by one. After the first failure, all further tokens read as the end of the text, and methods return
// at once.
class TokenReader {
 public:
  explicit TokenReader(absl::string_view text) : tokens_(Tokenize(text)) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  const Token& Next(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  void FailAt(const Token& token, absl::string_view message);
  // Fails at the next token, with a message such as `found "x", wanted WHAT`.
  void Wanted(absl::string_view what);
  bool Is(absl::string_view text, size_t ahead = 0) const;
  bool Accept(absl::string_view text);
  void Keyword(absl::string_view text);
  std::string Name(absl::string_view what);
  int64_t Integer(absl::string_view what);
  Id Id32(absl::string_view what);
  LoopKind KindOfLoop();
  // Reads the numbers of a swizzle: (from, to, bits).
  Swizzle SwizzleBits();
  // Reads the stages of a pipeline's children: for each a stage and a position, then "producer" or nothing, with commas
  // between children.
  std::vector<PipelineStage> Stages();
  template <size_t N>
  int OneOf(const absl::string_view (&names)[N], absl::string_view what) {
    for (size_t i = 0; i < N; ++i) {
      if (Accept(names[i])) return static_cast<int>(i);
    }
    Wanted(what);
    return 0;
  }

 protected:
  std::vector<Token> tokens_;
  size_t at_ = 0;

 private:
  absl::Status status_;
};

}  // namespace kiln

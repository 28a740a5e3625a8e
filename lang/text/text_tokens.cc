#include "lang/text/text_tokens.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lang/program/text_names.h"

namespace kiln {

std::vector<Token> Tokenize(absl::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  size_t line_start = 0, at = 0;
  const auto digits = [&] {
    while (at < text.size() && absl::ascii_isdigit(text[at])) ++at;
  };
  while (true) {
    while (at < text.size() && (absl::ascii_isspace(text[at]) || text[at] == '#')) {
      if (text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1);
      if (text[at++] == '\n') {
        ++line;
        line_start = at;
      }
    }
    Token token;
    token.line = line;
    token.column = static_cast<int>(at - line_start) + 1;
    const size_t start = at;
    if (at == text.size()) {
      tokens.push_back(token);
      return tokens;
    }
    if (text[at] == '"') {
      token.kind = Token::Kind::kQuoted;
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        token.text += text[at];
      }
      if (at < text.size() && text[at] == '"') {
        ++at;
      } else {
        token.kind = Token::Kind::kSign;  // an unterminated string, which no rule accepts
      }
      tokens.push_back(token);
      continue;
    }
    if (IsNameStart(text[at])) {
      token.kind = Token::Kind::kName;
      while (at < text.size() && IsNamePart(text[at])) ++at;
    } else if (absl::ascii_isdigit(text[at])) {
      token.kind = Token::Kind::kNumber;
      digits();
      if (at + 1 < text.size() && text[at] == '.' && absl::ascii_isdigit(text[at + 1])) {
        ++at;
        digits();
      }
      if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        digits();
      }
    } else {
      token.kind = Token::Kind::kSign;
      at += text.substr(at, 2) == ".." ? 2 : 1;
    }
    token.text = std::string(text.substr(start, at - start));
    tokens.push_back(token);
  }
}

void TokenReader::FailAt(const Token& token, absl::string_view message) {
  if (ok()) status_ = absl::InvalidArgumentError(absl::StrCat(token.line, ":", token.column, ": ", message));
  at_ = tokens_.size() - 1;
}

void TokenReader::Wanted(absl::string_view what) {
  const Token& token = Next();
  FailAt(token, token.kind == Token::Kind::kEnd ? absl::StrCat("found the end, wanted ", what)
                                                : absl::StrCat("found \"", token.text, "\", wanted ", what));
}

bool TokenReader::Is(absl::string_view text, size_t ahead) const {
  const Token& token = Next(ahead);
  return (token.kind == Token::Kind::kName || token.kind == Token::Kind::kSign) && token.text == text;
}

bool TokenReader::Accept(absl::string_view text) {
  if (!Is(text)) return false;
  ++at_;
  return true;
}

void TokenReader::Keyword(absl::string_view text) {
  if (!Accept(text)) Wanted(absl::StrCat("\"", text, "\""));
}

std::string TokenReader::Name(absl::string_view what) {
  if (Next().kind != Token::Kind::kName && Next().kind != Token::Kind::kQuoted) {
    Wanted(what);
    return "";
  }
  return tokens_[at_++].text;
}

int64_t TokenReader::Integer(absl::string_view what) {
  const bool negative = Accept("-");
  int64_t value = 0;
  if (Next().kind != Token::Kind::kNumber || !absl::SimpleAtoi((negative ? "-" : "") + Next().text, &value)) {
    Wanted(what);
    return 0;
  }
  ++at_;
  return value;
}

Id TokenReader::Id32(absl::string_view what) {
  const Token token = Next();
  const int64_t value = Integer(what);
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    FailAt(token, "the number is beyond 32 bits");
    return 0;
  }
  return static_cast<Id>(value);
}

LoopKind TokenReader::KindOfLoop() {
  std::string kind = Next().text;
  if (Is("-", 1)) absl::StrAppend(&kind, "-", Next(2).text);
  for (int k = 0; k <= static_cast<int>(LoopKind::kVirtualThread); ++k) {
    if (ToString(static_cast<LoopKind>(k)) != kind) continue;
    at_ += kind == Next().text ? 1 : 3;
    return static_cast<LoopKind>(k);
  }
  Wanted("a loop's kind");
  return LoopKind::kSerial;
}

Swizzle TokenReader::SwizzleBits() {
  Swizzle swizzle;
  const auto bit = [&](const char* before, int8_t* to) {
    Keyword(before);
    const Token token = Next();
    const Id number = Id32("a bit");
    if (ok() && (number < 0 || number > 64))
      FailAt(token, absl::StrCat("bit ", number, "; an address has 64"));
    *to = static_cast<int8_t>(number);
  };
  bit("(", &swizzle.from);
  bit(",", &swizzle.to);
  bit(",", &swizzle.bits);
  Keyword(")");
  return swizzle;
}

std::vector<PipelineStage> TokenReader::Stages() {
  std::vector<PipelineStage> stages;
  do {
    PipelineStage stage;
    stage.stage = Id32("a stage");
    stage.order = Id32("a position");
    if (Accept("producer")) stage.role = PipelineRole::kProducer;
    stages.push_back(stage);
  } while (ok() && Accept(","));
  return stages;
}

}  // namespace kiln

// A quiz. Each question is a few steps on a program, of which the last is refused. Guess why, then run the
// quiz.
#pragma once

#include <functional>
#include <iostream>

#include "absl/strings/match.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"

namespace kiln {

struct Question {
  const char* text;
  Program program;
  std::function<void(Schedule&)> steps;
  const char* answer;  // part of what the refusal says
};

// Prints the questions and why Kiln refuses their steps. Returns the exit code: 1 if an answer is not as expected,
// otherwise 0.
inline int Ask(const std::vector<Question>& questions) {
  RandomDice dice(Engine{0});
  RandomChooser nobody(dice);
  int wrong = 0;
  for (const Question& question : questions) {
    Schedule s(question.program, Target(), nobody);
    question.steps(s);
    std::cout << question.text << "\n  " << s.status().message() << "\n\n";
    if (s.ok() || !absl::StrContains(s.status().message(), question.answer)) {
      std::cout << "  expected: " << question.answer << "\n";
      wrong = 1;
    }
  }
  return wrong;
}

}  // namespace kiln

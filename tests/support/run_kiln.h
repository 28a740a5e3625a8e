// Runs the built kiln command and captures its output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace kiln {

struct Ran {
  int exit_code = -1;  // -1 if a signal ended it
  std::string out, err;

  // Returns the standard output parsed as JSON; a discarded value if it is no JSON.
  nlohmann::json json() const;
};

// Runs the built kiln with these arguments (without the name of the program) in the working directory `folder`, the
// current one if empty. Waits for its end and returns exit code, standard output and standard error.
Ran RunKiln(const std::vector<std::string>& arguments, const std::string& folder = "");

// Runs the built kiln as RunKiln does, but the constructor only starts it, and Wait waits for its end. A test can send
// a signal in between.
class KilnProcess {
 public:
  explicit KilnProcess(const std::vector<std::string>& arguments, const std::string& folder = "");
  pid_t pid() const { return pid_; }
  // Returns the text that the process has written to standard error so far.
  std::string Errors() const;
  Ran Wait();

 private:
  pid_t pid_ = -1;
  std::string out_, err_;  // paths of files with the output
};

// A new empty folder that is deleted with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Writes a file with this name and text to the folder, in place of an older one. Returns its path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string ReadText(const std::string& path);

}  // namespace kiln

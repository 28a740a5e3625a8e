// The main loop of the kiln-runner process: waits for requests on a socket and forks a child for each, one at a time.
// The process stays small and single-threaded, so that forks are cheap and safe, and never runs a candidate itself. It
// ends, together with a running child, when the other end of the socket is closed.
//
// It first sends two frames: what prevents this runner from working (empty: nothing), and a remark for the log (or
// empty). Then it answers each request with one result.
#pragma once

#include <string>

namespace kiln {

// Serves requests on the socket until its other end is closed, and returns the exit status of the process. `error` is
// the text of the first frame, which says what prevents the runner from working.
int ServeRequests(int socket, const std::string& error);

}  // namespace kiln

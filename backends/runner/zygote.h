// The kiln-runner process: waits for requests on a socket and forks a child for each, one at a time. It stays
// small and single-threaded, so that a fork is cheap and safe, and never runs a candidate itself. It ends,
// with the child that may be running, when the other end of the socket is closed.
//
// Said first, as two frames: what prevents this runner from working (empty: nothing), then a remark for the
// log (or nothing). After that each request is answered by one result.
#pragma once

#include <string>

namespace kiln {

// Returns the exit status of the process. `error`: what is said in the first frame.
int ServeRequests(int socket, const std::string& error);

}  // namespace kiln

import SatchelStorage

/// Sends requests, from any number of threads, and keeps connections for the next ones.
final class HTTPClient: Sendable {
  private struct Idle {
    var process: pid_t
    var sessions: [HTTPSession] = []
  }

  /// More are closed after use.
  private static let maximumIdle = 8

  private let caFile: String?
  private let timeouts: HTTPTimeouts
  private let idle = Guarded(Idle(process: getpid()))

  init(caFile: String?, timeouts: HTTPTimeouts) {
    self.caFile = caFile
    self.timeouts = timeouts
  }

  /// - Returns: an answer, whatever its status
  func perform(_ request: HTTPRequest, cancellation: Cancellation) throws(HTTPFailure) -> HTTPResponse {
    let session = try take()
    let (response, hasHeaders, failure) = session.perform(
      request, caFile: caFile, timeouts: timeouts, cancellation: cancellation)
    give(session)
    guard let failure else { return response }
    // A refusal that comes before the whole request is read, and any answer of which only the headers count.
    if failure.kind == .truncated, hasHeaders, !(response.isSuccess && request.method == "GET") {
      return response
    }
    throw failure
  }

  private func take() throws(HTTPFailure) -> HTTPSession {
    let session = idle.withLock { idle in
      let process = getpid()
      if idle.process != process {
        // In a child of a fork: the connections are the parent's, and even closing them would disturb it.
        for session in idle.sessions { _ = Unmanaged.passRetained(session) }
        idle = Idle(process: process)
      }
      return idle.sessions.popLast()
    }
    if let session { return session }
    return try HTTPSession()
  }

  private func give(_ session: HTTPSession) {
    idle.withLock { idle in
      if idle.sessions.count < Self.maximumIdle { idle.sessions.append(session) }
    }
  }
}

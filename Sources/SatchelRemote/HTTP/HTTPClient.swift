import SatchelCore

/// An HTTP client with a pool of connections, usable from any number of threads.
final class HTTPClient: Sendable {
  private struct Idle {
    var process: pid_t
    var sessions: [HTTPSession] = []
  }

  /// The maximum number of idle sessions; more are closed after use.
  private static let maximumIdle = 8

  private let route: HTTPRoute
  private let idle = Locked(Idle(process: getpid()))

  init(_ route: HTTPRoute) { self.route = route }

  /// Sends a request.
  ///
  /// - Returns: the response, with any status
  func perform(_ request: HTTPRequest, cancellation: Cancellation) throws(HTTPFailure) -> HTTPResponse {
    let session = try acquire()
    let (response, hasHeaders, failure) = session.perform(
      request, by: route, cancellation: cancellation)
    release(session)
    if let failure = request.body.reader?.failure ?? request.receiver?.failure {
      throw HTTPFailure(kind: .refused(failure), message: failure.message)
    }
    guard let failure else { return response }
    // A truncated error response (a server may respond before it has read the whole request) and a truncated
    // response to anything but GET are accepted: only their headers matter.
    switch failure.kind {
    case .truncated where hasHeaders && !(response.isSuccess && request.method == "GET"): return response
    // The body of an error is longer than what is read of it.
    case .tooLarge where hasHeaders && !response.isSuccess: return response
    default: break
    }
    throw failure
  }

  private func acquire() throws(HTTPFailure) -> HTTPSession {
    let session = idle.withLock { idle in
      let process = getpid()
      if idle.process != process {
        // After a fork the connections belong to the parent, and closing them here would disturb it: they are
        // leaked.
        for session in idle.sessions { _ = Unmanaged.passRetained(session) }
        idle = Idle(process: process)
      }
      return idle.sessions.popLast()
    }
    if let session { return session }
    return try HTTPSession()
  }

  private func release(_ session: HTTPSession) {
    idle.withLock { idle in
      if idle.sessions.count < Self.maximumIdle { idle.sessions.append(session) }
    }
  }
}

/// How servers are reached.
struct HTTPRoute {
  /// The path of a PEM file with the certificates to trust; nil for the system's.
  var caFile: String?
  /// The URL of a proxy; nil for none.
  var proxy: String?
  var timeouts = HTTPTimeouts()
}

/// An HTTP request, sent byte for byte as it is.
struct HTTPRequest {
  var method: String
  var url: String
  /// All headers except Content-Length.
  var headers: [SigningRequest.Field]
  var body = HTTPBody.none
  /// Gets the body of a successful response; nil to collect it.
  var receiver: HTTPBodyReceiver?
  /// Whether the request must use a new connection, because it must not be sent twice unnoticed: libcurl
  /// repeats a request on a reused connection that turns out to be dead, although the server may have
  /// executed it.
  var needsOwnConnection = false
  /// Whether only public addresses are connected to.
  var isPublicOnly = false
  /// Whether the body may be compressed in transit.
  var isDecoded = false
  /// The maximum size of the response body in bytes.
  var limit: Int64
}

/// The body of a request.
enum HTTPBody {
  /// None, as of a read.
  case none
  case bytes([UInt8])
  /// Read while it is sent.
  case stream(HTTPBodyReader)

  var reader: HTTPBodyReader? {
    if case .stream(let reader) = self { reader } else { nil }
  }
}

/// An HTTP response.
struct HTTPResponse: Sendable {
  var status = 0
  /// The headers by name in lower case; the last one of repeated names.
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  var isSuccess: Bool { (200..<300).contains(status) }
}

/// The timeouts of HTTP requests, in milliseconds; 0 means no timeout.
public struct HTTPTimeouts: Sendable, Equatable {
  /// The timeout for establishing a connection, including TLS.
  public var connect: Int64
  /// The timeout for a connection on which no bytes are transferred.
  public var stall: Int64
  /// The timeout for a whole request.
  public var total: Int64

  public init(connect: Int64 = 10_000, stall: Int64 = 30_000, total: Int64 = 0) {
    self.connect = connect
    self.stall = stall
    self.total = total
  }
}

/// The failure of a request without a complete response.
struct HTTPFailure: Error {
  enum Kind: Sendable {
    /// Nothing was sent; a retry may succeed.
    case notSent
    /// The request was sent at least in part; its outcome is unknown.
    case noReply
    /// The response began, but is incomplete.
    case truncated
    /// The server's certificate is not trusted.
    case notTrusted
    case tooLarge
    /// The server's address is not public, which the request requires.
    case forbiddenAddress
    case cancelled
    case noMemory
    /// The request cannot be sent, or an option is invalid.
    case invalidRequest
    /// A required library is not installed.
    case libraryMissing
    /// The file at this end failed; the request was broken off.
    case refused(ObjectStoreError)
  }

  var kind: Kind
  /// The message from libcurl; contains neither headers nor bodies.
  var message: String
}

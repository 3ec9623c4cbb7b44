import SatchelCore

/// A client that reads http and https URLs: those of an app's backend, and those that its content names.
///
/// It follows redirects within a site, and connects only to public addresses unless told otherwise. It uses no proxy of
/// the environment: through a proxy it could not see which address is asked.
package struct WebClient: Sendable {
  /// The maximum number of redirects that one request follows.
  static let maximumRedirects = 5

  private let client: HTTPClient
  private let hasProxy: Bool
  private let allowsPrivateAddresses: Bool

  /// - Parameters:
  ///   - caFile: the path of a PEM file with the certificates to trust; nil for the system's
  ///   - proxy: the URL of a proxy; nil for none. Through a proxy, names are resolved there, and only addresses in URLs
  ///     are refused
  ///   - allowsPrivateAddresses: whether servers may have addresses that are not public
  package init(
    caFile: String? = nil, proxy: String? = nil, timeouts: HTTPTimeouts = HTTPTimeouts(),
    allowsPrivateAddresses: Bool = false
  ) {
    client = HTTPClient(HTTPRoute(caFile: caFile, proxy: proxy, timeouts: timeouts))
    hasProxy = proxy != nil
    self.allowsPrivateAddresses = allowsPrivateAddresses
  }

  /// Gets a URL.
  ///
  /// - Returns: the response with any status but a redirect that was followed
  /// - Throws: `WebFailure`, whose message names the URL without its query
  package func get(
    _ request: WebRequest, cancellation: Cancellation = .never
  ) throws(WebFailure) -> WebResponse {
    var (url, redirects) = (request.url, 0)
    while true {
      let (response, received) = try send(request, to: url, cancellation)
      guard Self.isRedirect(response.status), let location = response.headers["location"] else {
        return WebResponse(
          status: response.status, headers: response.headers, body: response.body,
          size: received + Int64(response.body.count), url: url)
      }
      url = try Self.redirected(from: url, to: location)
      redirects += 1
      guard redirects <= Self.maximumRedirects else {
        throw WebFailure(
          .foreign,
          "\(request.url.shown): was redirected more than \(Self.maximumRedirects) times, at last to \(url.shown)"
        )
      }
    }
  }

  private func send(
    _ request: WebRequest, to url: WebURL, _ cancellation: Cancellation
  ) throws(WebFailure) -> (HTTPResponse, received: Int64) {
    // Behind a proxy nothing else could be known; without one, it is refused before a name is looked up.
    guard allowsPrivateAddresses || !PublicAddress.isPrivateAddress(url.host) else {
      throw Self.forbidden(url, "the address is not public")
    }
    let body = request.receive.map { WebBody($0, request.begin, limit: request.limit) }
    let offset = request.range?.lowerBound ?? 0
    var call = HTTPRequest(
      method: "GET", url: url.text, headers: request.fields(for: url), limit: request.limit)
    call.receiver = body.map { body in
      HTTPBodyReceiver(offset: offset, body) { response in
        body.response = response
        return nil
      }
    }
    // A part of a compressed body cannot be decoded.
    call.isDecoded = request.range == nil
    call.isPublicOnly = !allowsPrivateAddresses && !hasProxy
    do throws(HTTPFailure) {
      return (try client.perform(call, cancellation: cancellation), body?.size ?? 0)
    } catch {
      if let failure = body?.failure { throw WebFailure(.refused(failure), "\(url.shown): \(failure)") }
      throw Self.failure(error, url, limit: request.limit)
    }
  }

  // MARK: Decisions

  static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Returns where a redirect leads, if it may be followed: within the origin, or from http to https of the same host.
  static func redirected(from url: WebURL, to location: String) throws(WebFailure) -> WebURL {
    let target: WebURL
    do throws(SatchelError) {
      target = try url.resolving(location)
    } catch {
      throw WebFailure(.foreign, "\(url.shown): was redirected to a URL that \(error.message)")
    }
    if target.origin == url.origin || !url.isSecure && target.isSecure && target.host == url.host {
      return target
    }
    let rule =
      url.isSecure && !target.isSecure && target.host == url.host
      ? "from https to http" : "to another site"
    throw WebFailure(
      .foreign,
      "\(url.shown): was redirected to \(target.shown), and redirects \(rule) are not followed: use the URL that it "
        + "leads to, if it can be trusted; or sign in to the network, if it asks for that")
  }

  private static func forbidden(_ url: WebURL, _ reason: String) -> WebFailure {
    WebFailure(
      .forbidden,
      "\(url.shown): \(reason), and servers in private networks are asked only where the source allows them")
  }

  private static func failure(_ failure: HTTPFailure, _ url: WebURL, limit: Int64) -> WebFailure {
    let kind: WebFailure.Kind =
      switch failure.kind {
      case .notSent, .noReply, .truncated: .unavailable
      case .notTrusted: .notTrusted
      case .tooLarge: .tooLarge
      case .forbiddenAddress: .forbidden
      case .cancelled: .cancelled
      case .noMemory: .noMemory
      case .invalidRequest: .invalid
      case .libraryMissing: .libraryMissing
      case .refused(let error): error.reason == .tooLarge ? .tooLarge : .foreign
      }
    return switch kind {
    case .tooLarge:
      WebFailure(kind, "\(url.shown): the answer has more than the \(limit) bytes that are allowed")
    case .forbidden: forbidden(url, failure.message)
    case .libraryMissing: WebFailure(kind, failure.message)
    case .cancelled: WebFailure(kind, "\(url.shown): cancelled by the caller")
    default: WebFailure(kind, "\(url.shown): \(failure.message)")
    }
  }
}

/// A request of `WebClient`.
package struct WebRequest {
  package var url: WebURL
  /// Sent to every server.
  package var headers: [(name: String, value: String)] = []
  /// Sent only to their origin, also after a redirect: they may have credentials.
  package var privateHeaders: (origin: String, headers: [(name: String, value: String)]) = ("", [])
  /// The entity tag of what the caller has, for If-None-Match.
  package var etag: String?
  /// The bytes to ask for; nil for all. A server that ignores it sends all, of which those before it are skipped.
  package var range: ClosedRange<Int64>?
  /// The maximum size of the body in bytes, after it was decoded.
  package var limit: Int64
  /// Receives the body of a successful response in blocks; nil to collect it. What it throws ends the request.
  package var receive: ((UnsafeRawBufferPointer) throws -> Void)?
  /// Called with the headers of a successful response, before its first block. What it throws ends the request.
  package var begin: (([String: String]) throws -> Void)?

  package init(_ url: WebURL, limit: Int64) { (self.url, self.limit) = (url, limit) }

  func fields(for url: WebURL) -> [(name: String, value: String)] {
    var fields = headers
    if privateHeaders.origin == url.origin { fields += privateHeaders.headers }
    // An entity tag of another program may be no header value.
    if let etag, Self.isValue(etag) { fields.append(("if-none-match", etag)) }
    if let range { fields.append(("range", "bytes=\(range.lowerBound)-\(range.upperBound)")) }
    return fields
  }

  /// Whether a text can be the value of a header.
  package static func isValue(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 8192
      && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// Whether a text can be the name of a header.
  package static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 256
      && text.utf8.allSatisfy { byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
  }
}

/// A response to `WebClient`.
package struct WebResponse: Sendable {
  package var status: Int
  /// By name in lower case.
  package var headers: [String: String]
  /// Empty where it was passed on in blocks; of an error, at most its beginning.
  package var body: [UInt8]
  /// The number of bytes of the body, decoded.
  package var size: Int64
  /// The URL that answered, after redirects.
  package var url: WebURL
}

/// Why a request has no response.
package struct WebFailure: Error {
  package enum Kind {
    /// The server cannot be reached, or does not answer completely.
    case unavailable
    case notTrusted
    /// A redirect that is not followed, or another answer that HTTP does not allow.
    case foreign
    /// The server's address is not public.
    case forbidden
    case tooLarge
    case cancelled
    case noMemory
    case invalid
    case libraryMissing
    /// The caller's function threw.
    case refused(any Error)
  }

  package var kind: Kind
  /// Names the URL without its query.
  package var message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }
}

/// Counts the bytes of a body, and passes them on.
private final class WebBody: BodyReceiver {
  private let pass: (UnsafeRawBufferPointer) throws -> Void
  private let start: (([String: String]) throws -> Void)?
  /// The response whose body it is.
  var response: HTTPResponse?
  private let limit: Int64
  private(set) var size: Int64 = 0
  /// The error of the caller's function.
  private(set) var failure: (any Error)?

  init(
    _ pass: @escaping (UnsafeRawBufferPointer) throws -> Void, _ start: (([String: String]) throws -> Void)?,
    limit: Int64
  ) {
    (self.pass, self.start, self.limit) = (pass, start, limit)
  }

  var end: Int64? { nil }

  func begin(size: Int64?, etag: ETag?) throws(ObjectStoreError) {
    try call { try start?(response?.headers ?? [:]) }
  }

  func receive(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    guard Int64(block.count) <= limit - size else { throw ObjectStoreError(.tooLarge, "too large") }
    size += Int64(block.count)
    try call { try pass(block) }
  }

  private func call(_ function: () throws -> Void) throws(ObjectStoreError) {
    do { try function() } catch {
      failure = error
      throw ObjectStoreError(.failed(.io), "the body was refused")
    }
  }
}

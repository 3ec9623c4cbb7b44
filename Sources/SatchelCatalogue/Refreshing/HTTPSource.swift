import CScan
import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelRemote

/// A source that is a server: content and assets are fetched by HTTP GET.
///
/// Content is asked for at the base URL, with query parameters: `latitude`, `longitude`, `sublocality`, `locality`,
/// `admin_area`, `country_code` and `country_name` as far as the location has them; `section`, the name of one section; and
/// `entity`, once for each entity that is missing or expired, as many as fit into a URL of 2,000 bytes. A query that the
/// base URL has is kept. `If-None-Match` has the entity tag of what is stored.
///
/// | answer | means |
/// |---|---|
/// | 200 | the content: JSON of a section, or of a delivery, an object with `sections`; with `"complete": true`, all there is |
/// | 304 | not modified |
/// | 404, 410 | not found |
/// | 408, 425, 429, 5xx, none | a transient failure, with the time of `Retry-After` |
/// | any other | a final failure |
///
/// `ETag` is kept for the next request; `Cache-Control` (`max-age`, less `Age`; `no-cache` and `no-store`), otherwise
/// `Expires`, says how long the content is fresh.
///
/// Redirects are followed within the site, and from http to https of the same host, at most five. Servers with addresses
/// that are not public are refused, unless the base URL has one or `allowsPrivateAddresses` says otherwise. No proxy of
/// the environment is used. It can be used from any number of threads, and keeps up to eight connections open.
public struct HTTPSource: ContentSource {
  /// The URLs of requests with entities stay below this length in bytes: servers and proxies refuse long ones.
  static let maximumURL = 2000
  /// Headers that the library sets itself.
  private static let reserved = [
    "accept-encoding", "connection", "content-length", "host", "if-none-match", "range", "transfer-encoding",
  ]

  let base: WebURL
  private let headers: [(name: String, value: String)]
  private let options: HTTPSourceOptions
  private let client: WebClient
  /// Whether servers may have addresses that are not public.
  let allowsPrivateAddresses: Bool

  /// - Parameters:
  ///   - baseURL: where content is asked for, http or https, perhaps with a path and a query. http:// protects nothing in
  ///     transit: use it only for servers on this machine or in a trusted network
  ///   - headers: sent with each request to the origin of the base URL, and to no other: `Authorization`, for example
  /// - Throws: `SatchelError` `.invalid` that names the argument, without the values of headers
  public init(
    baseURL: String, headers: [(name: String, value: String)] = [], options: HTTPSourceOptions = .init()
  ) throws {
    do throws(SatchelError) {
      base = try WebURL(baseURL)
    } catch {
      throw SatchelError(.invalid, "base_url: \(error.message)")
    }
    for (index, header) in headers.enumerated() {
      guard WebRequest.isName(header.name) else {
        throw SatchelError(.invalid, "headers: the name of header \(index + 1) is not one")
      }
      guard WebRequest.isValue(header.value) else {
        throw SatchelError(
          .invalid,
          "headers: \(header.name): must have 1 to 8192 bytes without line ends and other control characters")
      }
      guard !Self.reserved.contains(header.name.lowercased()) else {
        throw SatchelError(.invalid, "headers: \(header.name): is set by the library")
      }
    }
    guard options.maxSize > 0 else { throw SatchelError(.invalid, "max_size: must be positive") }
    self.headers = headers
    self.options = options
    allowsPrivateAddresses = options.allowsPrivateAddresses ?? PublicAddress.isPrivate(host: base.host)
    client = WebClient(
      caFile: options.caFile, proxy: options.proxy, timeouts: options.timeouts,
      allowsPrivateAddresses: allowsPrivateAddresses)
  }

  // MARK: Content

  /// Fetches content.
  ///
  /// - Throws: `SourceFailure`; `SatchelError` `.cancelled` and `.noMemory`
  public func content(_ request: ContentRequest) throws -> ContentAnswer {
    var call = WebRequest(url(for: request), limit: options.maxSize)
    call.etag = request.etag
    call.headers = [("accept", "application/json")]
    let response = try send(call, request.cancellation)
    let maxAge = WebFreshness.maxAge(response.headers, now: options.clock.now())
    switch response.status {
    case 200:
      try checkIsJSON(response)
      return .content(
        response.body, etag: Self.etag(response), maxAge: maxAge,
        isComplete: Self.isComplete(response.body))
    case 304 where request.etag != nil: return .notModified(etag: Self.etag(response), maxAge: maxAge)
    case 404, 410: return .notFound(maxAge: maxAge)
    default: throw failure(response)
    }
  }

  /// Returns the URL of a request for content.
  func url(for request: ContentRequest) -> WebURL {
    let location = request.location
    var url = base
    func add(_ name: String, _ value: String?) {
      if let value { url.add(query: name + "=" + WebURL.encoded(value: value)) }
    }
    add("latitude", location.latitude.map { "\($0)" })
    add("longitude", location.longitude.map { "\($0)" })
    add("sublocality", location.sublocality)
    add("locality", location.locality)
    add("admin_area", location.adminArea)
    add("country_code", location.countryCode)
    add("country_name", location.countryName)
    add("section", request.section)
    var length = url.text.utf8.count
    for entity in request.entities {
      let parameter = "entity=" + WebURL.encoded(value: entity)
      length += 1 + parameter.utf8.count
      guard length < Self.maximumURL else { break }
      url.add(query: parameter)
    }
    return url
  }

  /// The entity tag of a response; nil for one that is too long to be kept.
  private static func etag(_ response: WebResponse) -> String? {
    response.headers["etag"].flatMap { $0.utf8.count <= 1024 ? $0 : nil }
  }

  /// A network that wants a sign-in answers every request, with a page of its own.
  private func checkIsJSON(_ response: WebResponse) throws {
    let first = response.body.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    guard first == UInt8(ascii: "{") else {
      let name = (response.headers["content-type"] ?? "").utf8.prefix(80).filter {
        (0x21...0x7E).contains($0)
      }
      let type = name.isEmpty ? "" : " (\(String(decoding: name, as: UTF8.self)))"
      throw SourceFailure(
        "\(response.url.shown): the answer is not a JSON object\(type): the network may ask to sign in, or the base URL is "
          + "that of a page")
    }
  }

  /// Whether a delivery says that it is complete. Bytes without the member are not parsed; what is wrong with them is found
  /// when they are stored.
  package static func isComplete(_ body: [UInt8]) -> Bool {
    let member: StaticString = "\"complete\""
    let mayBe = body.withUnsafeBytes {
      satchel_contains($0.baseAddress, $0.count, member.utf8Start, member.utf8CodeUnitCount)
    }
    guard mayBe, let value = try? JSONValue(parsing: body) else { return false }
    return value["sections"] != nil && value["complete"]?.boolValue == true
  }

  // MARK: Assets

  /// Fetches the bytes of an asset from its URL; one that is relative counts from the base URL.
  ///
  /// - Throws: `SatchelError` `.notFound`, `.unauthorized`, `.unavailable` and `.invalid`, with the `SourceFailure` as
  ///   `underlying`; `.cancelled`; the errors of the writer
  public func asset(_ request: AssetRequest, into writer: AssetWriter) throws -> AssetResponse {
    let url: WebURL
    do throws(SatchelError) {
      url = try base.resolving(request.url)
    } catch {
      throw SatchelError(.invalid, "the URL of the asset \(error.message)")
    }
    let partial = try writer.goOn()
    do {
      return try asset(request, at: url, into: writer, partial)
    } catch is OtherBytes {
      // Those that an interrupted fetch has left are of an older version.
      try partial?.restart()
      return try asset(request, at: url, into: writer, partial)
    } catch let failure as SourceFailure {
      throw assetFailure(0, failure)
    }
  }

  private struct OtherBytes: Error {}

  /// Fetches the bytes that follow those that are there.
  ///
  /// - Throws: `OtherBytes` when they are of another version; `SourceFailure`
  private func asset(
    _ request: AssetRequest, at url: WebURL, into writer: AssetWriter, _ partial: PartialAsset?
  ) throws -> AssetResponse {
    // The writer knows the limit.
    var call = WebRequest(url, limit: .max)
    call.etag = request.etag
    call.receive = { try writer.append($0) }
    let (count, known) = (partial?.count ?? 0, partial?.etag)
    if count > 0 { call.range = count...count + request.maxSize }
    call.begin = { headers in
      // A part of a compressed body would be no part of the bytes.
      let etag = headers["content-encoding"] == nil ? headers["etag"] : nil
      if count > 0, let known, etag != known { throw OtherBytes() }
      partial?.etag = etag
    }
    let response = try send(call, Cancellation(request.isCancelled))
    switch response.status {
    case 200: return .fetched(etag: Self.etag(response))
    case 206 where count > 0: return .fetched(etag: Self.etag(response))
    case 304 where request.etag != nil: return .notModified
    case 416 where count > 0: throw OtherBytes()
    default: throw assetFailure(response.status, failure(response))
    }
  }

  private func assetFailure(_ status: Int, _ failure: SourceFailure) -> SatchelError {
    let code: SatchelError.Code =
      switch status {
      case 404, 410: .notFound
      case 401, 403: .unauthorized
      case 0 where failure.isFinal: .invalid
      default: .unavailable
      }
    return SatchelError(code, failure.message, underlying: failure)
  }

  // MARK: Failures

  private func send(_ request: WebRequest, _ cancellation: Cancellation) throws -> WebResponse {
    var request = request
    // Some servers refuse requests without it.
    request.headers.append(("user-agent", "satchel"))
    let own = Set(headers.map { $0.name.lowercased() })
    request.headers.removeAll { own.contains($0.name) && request.url.origin == base.origin }
    request.privateHeaders = (base.origin, headers)
    do throws(WebFailure) {
      return try client.get(request, cancellation: cancellation)
    } catch {
      switch error.kind {
      case .cancelled: throw SatchelError(.cancelled, error.message)
      case .noMemory: throw SatchelError(.noMemory, error.message)
      case .refused(let failure): throw failure
      // A network that wants a sign-in redirects, and has a certificate of its own.
      case .unavailable, .foreign, .notTrusted: throw SourceFailure(error.message)
      case .forbidden, .tooLarge, .invalid, .libraryMissing: throw SourceFailure(error.message, isFinal: true)
      }
    }
  }

  /// Converts a response that is neither content nor one of the answers without.
  private func failure(_ response: WebResponse) -> SourceFailure {
    let status = response.status
    let isTransient = status == 408 || status == 425 || status == 429 || (500...599).contains(status)
    let hint: String =
      switch status {
      case 401, 403: ": check the headers of the source, and their expiry"
      case 404, 410: ": it is not there"
      case 429: ": too many requests"
      case 500...599: ": it has a fault, and is asked again later"
      case 304: ", although nothing is known here that could be unmodified"
      case 300..<400: ", a redirect without a destination"
      case 200..<300: ", and content has the status 200"
      default: ""
      }
    return SourceFailure(
      "\(response.url.shown): the server answered \(status)\(hint)", isFinal: !isTransient,
      retryAfter: isTransient ? WebFreshness.retryAfter(response.headers, now: options.clock.now()) : nil)
  }
}

/// Options of `HTTPSource`.
public struct HTTPSourceOptions: Sendable {
  /// The timeouts of one request, in milliseconds; 0 means no timeout. By default ten seconds to connect, thirty without a
  /// byte, and ten minutes for all of it.
  public var timeouts = HTTPTimeouts(connect: 10_000, stall: 30_000, total: 600_000)
  /// The maximum size of content in bytes, after it was decompressed, counted while it is received. That of an asset is an
  /// option of the call that fetches it.
  public var maxSize: Int64 = 16 << 20
  /// The path of a PEM file with the certificates to trust instead of the system's.
  public var caFile: String?
  /// The URL of a proxy, such as "http://proxy.example.org:3128"; nil for none. It resolves the names of servers, so that
  /// only addresses in URLs are refused.
  public var proxy: String?
  /// Whether servers may have addresses that are not public: loopback, private and link-local ones. Nil: if the base URL has
  /// such an address, or a name of a private network ("localhost", "backend", "box.local").
  public var allowsPrivateAddresses: Bool?
  /// The clock for dates in headers of a server that has none.
  public var clock = Clock.system

  public init() {}
}

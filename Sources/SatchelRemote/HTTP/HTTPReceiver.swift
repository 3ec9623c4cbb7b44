import CCurl

/// Collects a response while it is received.
struct HTTPReceiver {
  /// The maximum size of all headers, which limits memory use.
  private static let maximumHeaders = 256 << 10
  /// The maximum part kept of an error's body, which is read only for its code and message.
  private static let maximumError: Int64 = 64 << 10
  /// The size of an error's body after which the request is broken off.
  private static let maximumIgnored: Int64 = 1 << 20

  private(set) var response = HTTPResponse()
  /// Whether all headers of the final response have been received.
  private(set) var hasHeaders = false
  private var headerBytes = 0
  private var ignored: Int64 = 0
  /// The maximum size of the body; nil for HEAD, whose Content-Length announces no body.
  private let limit: Int64?
  private let receiver: HTTPBodyReceiver?
  private let cancellation: Cancellation

  init(_ request: HTTPRequest, cancellation: Cancellation) {
    limit = request.method == "HEAD" ? nil : request.limit
    receiver = request.receiver
    self.cancellation = cancellation
  }

  var isCancelled: Bool { cancellation.isCancelled() }

  /// The address that was refused.
  private(set) var refusedAddress: String?

  /// Whether the address of a server may be connected to.
  mutating func allows(_ address: UnsafeRawBufferPointer) -> Bool {
    if PublicAddress.isPublic(address) { return true }
    refusedAddress = PublicAddress.text(address)
    return false
  }

  /// Receives a header line or a status line.
  ///
  /// - Parameter line: without the line end
  /// - Returns: false when a limit is exceeded
  mutating func header(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= Self.maximumHeaders else { return false }
    if line.starts(with: Array("HTTP/".utf8)) {
      let status = line.split(separator: UInt8(ascii: " ")).dropFirst().first
      response = HTTPResponse()
      response.status = status.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      hasHeaders = false
      return true
    }
    guard !line.isEmpty else {
      hasHeaders = response.status >= 200
      return reserve()
    }
    // Trailers after the body must not change headers.
    guard !hasHeaders, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let value = line[(colon + 1)...].trimming { $0 == 0x20 || $0 == 0x09 }
    let text = String(decoding: value, as: UTF8.self)
    // A list in several lines is one list (RFC 9110, 5.3).
    let before = name == "cache-control" ? response.headers[name] : nil
    response.headers[name] = before.map { $0 + ", " + text } ?? text
    return true
  }

  /// Receives a part of the body.
  ///
  /// - Returns: false when a limit is exceeded
  mutating func body(_ part: UnsafeRawBufferPointer) -> Bool {
    if response.isSuccess, let receiver { return receiver.receive(part, response) }
    if response.isSuccess {
      guard Int64(response.body.count) + Int64(part.count) <= limit ?? 0 else { return false }
    } else if Int64(response.body.count) + Int64(part.count) > Self.maximumError {
      ignored += Int64(part.count)
      return ignored <= Self.maximumIgnored
    }
    response.body.append(contentsOf: part)
    return true
  }

  private mutating func reserve() -> Bool {
    guard hasHeaders, response.isSuccess, receiver == nil, let limit,
      response.headers["content-encoding"] == nil, let length = response.headers["content-length"],
      let length = Int64(length)
    else { return true }
    guard length <= limit else { return false }
    response.body.reserveCapacity(Int(max(length, 0)))
    return true
  }
}

extension BidirectionalCollection {
  fileprivate func trimming(while isDropped: (Element) -> Bool) -> SubSequence {
    var rest = drop(while: isDropped)
    while let last = rest.last, isDropped(last) { rest = rest.dropLast() }
    return rest
  }
}

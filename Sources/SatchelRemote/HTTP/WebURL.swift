import SatchelCore

/// An http or https URL without a fragment (RFC 3986), encoded as it is sent.
package struct WebURL: Sendable, Equatable {
  /// The maximum length in bytes.
  static let maximumLength = 8192

  package let isSecure: Bool
  /// The host, with the port unless it is the scheme's default; in lower case.
  package let authority: String
  /// Begins with a slash.
  package private(set) var path: String
  /// Without its question mark; nil for none.
  package var query: String?

  /// The scheme, host and port, as in "https://example.org".
  package var origin: String { (isSecure ? "https://" : "http://") + authority }
  /// The host without its port; an IPv6 address has its brackets.
  package var host: String {
    guard authority.last != "]", let colon = authority.lastIndex(of: ":") else { return authority }
    return String(authority[..<colon])
  }
  package var text: String { origin + path + (query.map { "?" + $0 } ?? "") }
  /// The URL for messages: without its query, which may have a secret.
  package var shown: String { String((origin + path).prefix(300)) }

  /// Reads an absolute URL. Characters that a URL cannot have, as a space, are percent-encoded; escapes stay.
  ///
  /// - Throws: `.invalid` with the reason, without the URL
  package init(_ text: String) throws(SatchelError) {
    let scheme = text.prefix(8).lowercased()
    let isSecure = scheme.hasPrefix("https://")
    guard isSecure || scheme.hasPrefix("http://") else {
      throw Self.invalid("must begin with http:// or https://")
    }
    guard text.utf8.count <= Self.maximumLength else {
      throw Self.invalid("must have at most \(Self.maximumLength) bytes")
    }
    let rest = Array(text.utf8.dropFirst(isSecure ? 8 : 7).prefix { $0 != UInt8(ascii: "#") })[...]
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard !authority.contains(UInt8(ascii: "@")) else {
      throw Self.invalid("must have no user and no password: pass them as a header")
    }
    let host = String(decoding: authority, as: UTF8.self).lowercased()
    guard let host = S3Endpoint.host(host[...].utf8, defaultPort: isSecure ? "443" : "80") else {
      throw Self.invalid(
        "must have a host of letters, digits, \"-\" and \".\", perhaps with a port; write a name in other letters in its "
          + "form of ASCII, \"xn--…\"")
    }
    let target = rest.dropFirst(authority.count)
    let path = target.prefix { $0 != UInt8(ascii: "?") }
    self.isSecure = isSecure
    self.authority = host
    self.path = path.isEmpty ? "/" : try Self.encoded(path)
    query = path.count == target.count ? nil : try Self.encoded(target.dropFirst(path.count + 1))
  }

  /// Resolves a reference that is relative to this URL, or absolute (RFC 3986, 5.2).
  ///
  /// - Throws: as `init`
  package func resolving(_ reference: String) throws(SatchelError) -> WebURL {
    let bytes = Array(reference.utf8.prefix { $0 != UInt8(ascii: "#") })[...]
    guard bytes.count <= Self.maximumLength else {
      throw Self.invalid("must have at most \(Self.maximumLength) bytes")
    }
    if Self.hasScheme(bytes) { return try WebURL(reference) }
    if bytes.starts(with: "//".utf8) { return try WebURL((isSecure ? "https:" : "http:") + reference) }
    let referencePath = bytes.prefix { $0 != UInt8(ascii: "?") }
    let hasQuery = referencePath.count < bytes.count
    var url = self
    if hasQuery { url.query = try Self.encoded(bytes.dropFirst(referencePath.count + 1)) }
    if referencePath.isEmpty { return url }
    if !hasQuery { url.query = nil }
    let isAbsolute = referencePath.first == UInt8(ascii: "/")
    let name = path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }
    let folder = isAbsolute ? "" : String(path.dropLast(name.count))
    url.path = Self.withoutDots(folder + (try Self.encoded(referencePath)))
    return url
  }

  /// Adds query parameters that are encoded already.
  package mutating func add(query more: String) {
    query = query.map { $0.isEmpty ? more : $0 + "&" + more } ?? more
  }

  /// Encodes a name or a value of a query: everything but letters, digits and "-._~".
  package static func encoded(value: String) -> String { PercentEncoding.encode(value) }

  private static func invalid(_ reason: String) -> SatchelError { SatchelError(.invalid, reason) }

  private static func hasScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
    let scheme = bytes.prefix { !"/?:".utf8.contains($0) }
    return scheme.count < bytes.count && bytes[scheme.endIndex] == UInt8(ascii: ":") && !scheme.isEmpty
  }

  private static func encoded(_ bytes: ArraySlice<UInt8>) throws(SatchelError) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count)
    for byte in bytes {
      guard byte >= 0x20, byte != 0x7F else { throw invalid("must have no control characters") }
      if byte == 0x20 || byte > 0x7F || "\"<>\\^`{|}".utf8.contains(byte) {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        encoded.append(byte)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Resolves the components "." and ".." of an absolute path.
  private static func withoutDots(_ path: String) -> String {
    var kept: [Substring] = []
    let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if part == ".." { _ = kept.popLast() }
      if part != ".", part != ".." {
        kept.append(part)
      } else if index == parts.count - 1 {
        kept.append("")
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}

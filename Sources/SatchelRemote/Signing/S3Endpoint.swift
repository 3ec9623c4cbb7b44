/// The address of a bucket, and the mapping of keys to URL paths.
public struct S3Endpoint: Sendable, Equatable {
  /// The position of the bucket in URLs.
  public enum Style: String, Sendable {
    /// The bucket is the first component of the path.
    case path
    /// The bucket is the first label of the host name.
    case virtualHost
  }

  public let isSecure: Bool
  /// The value of the Host header: the host, with the port unless it is the scheme's default.
  public let host: String
  /// The path below which the store has its buckets; empty, or with a slash at its begin and none at its end.
  public let path: String
  public let bucket: String
  public let style: Style
  /// The prefix of all keys, if any.
  public let prefix: ObjectKey?

  /// - Parameters:
  ///   - address: "https://host", optionally with a port and a path; "http://" for servers on the same machine or
  ///     network
  ///   - bucket: 3 to 63 of a-z, 0-9, "-" and "."; with addressing by path also A-Z and "_", which older buckets and
  ///     other stores have
  /// - Throws: `.failed(.invalid)` with the invalid part
  public init(
    address: String, bucket: String, style: Style = .path, prefix: ObjectKey? = nil
  ) throws(ObjectStoreError) {
    func invalid(_ reason: String) -> ObjectStoreError { ObjectStoreError(.failed(.invalid), reason) }
    let scheme = address.prefix(8).lowercased()
    let isSecure = scheme.hasPrefix("https://")
    guard isSecure || scheme.hasPrefix("http://") else {
      throw invalid("the address of the object store begins with neither https:// nor http://")
    }
    let rest = address.dropFirst(isSecure ? 8 : 7)
    let authority = rest.prefix { $0 != "/" }.lowercased()[...].utf8
    var path = rest.drop { $0 != "/" }
    if path.last == "/" { path = path.dropLast() }
    // A query or user is not allowed: the address may appear in proxies and logs, and must not contain secrets.
    guard Self.isPath(path) else {
      throw invalid(
        "the path of the object store's address must have components of letters, digits, \"-\", \"_\", \"~\" and \".\""
      )
    }
    guard let host = Self.host(authority, defaultPort: isSecure ? "443" : "80") else {
      throw invalid(
        "the address of the object store must be a host with an optional port and path, without user or query"
      )
    }
    guard (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy({ Self.isOfBucket($0, style) }),
      bucket.utf8.first.map({ Self.isOfBucket($0, style) && Self.isWord($0) }) == true,
      bucket.utf8.last.map({ Self.isOfBucket($0, style) && Self.isWord($0) }) == true
    else {
      throw invalid(
        "the bucket name must be 3 to 63 of a-z, 0-9, \"-\" and \".\", with path style also of A-Z and \"_\"")
    }
    // The wildcard certificate of an endpoint covers one additional label, not two.
    guard style == .path || !isSecure || !bucket.utf8.contains(UInt8(ascii: ".")) else {
      throw invalid(
        "a bucket with \".\" in its name cannot be part of the host name over https: use path style")
    }
    self.isSecure = isSecure
    self.host = style == .path ? host : bucket + "." + host
    self.path = String(path)
    self.bucket = bucket
    self.style = style
    self.prefix = prefix
  }

  /// The scheme and host, as in "https://host".
  package var origin: String { (isSecure ? "https://" : "http://") + host }

  /// The host without its port.
  var hostName: String {
    guard host.last != "]", let colon = host.lastIndex(of: ":") else { return host }
    return String(host[..<colon])
  }

  /// Returns the path of an object, not encoded.
  ///
  /// - Throws: `.invalidKey` when the key with the prefix is too long
  package func path(of key: ObjectKey) throws(ObjectStoreError) -> String {
    let full = if let prefix { try key.below(prefix) } else { key }
    return path + (style == .path ? "/" + bucket : "") + "/" + full.text
  }

  /// The path of the bucket itself, for listings.
  package var bucketPath: String { path + (style == .path ? "/" + bucket : "/") }

  /// Reads a host with an optional port, and leaves a default port out; nil for anything else.
  ///
  /// - Parameter authority: in lower case
  static func host(_ authority: Substring.UTF8View, defaultPort: String) -> String? {
    var (name, port) = (authority, authority[authority.endIndex...])
    if let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]") {
      (name, port) = (authority[..<colon], authority[authority.index(after: colon)...])
      guard let number = Int(String(decoding: port, as: UTF8.self)), (1...65535).contains(number),
        port.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
    }
    let isAddress = name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]") && name.count > 2
    let inner = isAddress ? name.dropFirst().dropLast() : name
    let isName = inner.allSatisfy { byte in
      isLetterOrDigit(byte) || byte == UInt8(ascii: ".")
        || byte == (isAddress ? UInt8(ascii: ":") : UInt8(ascii: "-"))
    }
    guard !inner.isEmpty, isName else { return nil }
    let text = String(decoding: name, as: UTF8.self)
    let portText = String(decoding: port, as: UTF8.self)
    return portText.isEmpty || portText == defaultPort ? text : text + ":" + portText
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isOfBucket(_ byte: UInt8, _ style: Style) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "."): true
    case UInt8(ascii: "_"), UInt8(ascii: "A")...UInt8(ascii: "Z"): style == .path
    default: isLetterOrDigit(byte)
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool { isLetterOrDigit(byte | 0x20) }

  private static func isPath(_ path: Substring) -> Bool {
    path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().allSatisfy { part in
      !part.isEmpty && part != "." && part != ".."
        && part.utf8.allSatisfy { byte in
          byte >= 0x30 && isLetterOrDigit(byte | 0x20) || "-_~.".utf8.contains(byte)
        }
    }
  }
}

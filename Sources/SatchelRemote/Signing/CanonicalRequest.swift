import SatchelCore
/// The canonical request of AWS Signature Version 4, which client and server sign.
struct CanonicalRequest {
  /// The path and query as they are sent.
  let target: String
  /// All headers with their values as they are sent, sorted by name.
  let headers: [SigningRequest.Field]
  /// The names of the signed headers, separated by semicolons.
  let signedHeaders: String
  let text: String

  /// - Parameter added: headers that replace the caller's
  /// - Throws: `.failed(.invalid)` for an invalid path or header
  init(_ request: SigningRequest, adding added: [String: String]) throws(ObjectStoreError) {
    guard request.path.utf8.first == UInt8(ascii: "/") else {
      throw ObjectStoreError(.failed(.invalid), "the request's path does not begin with a slash")
    }
    let path = PercentEncoding.encode(request.path, keepsSlashes: true)
    let query = Self.query(request.query)
    var values: [String: String] = [:]
    for (name, value) in request.headers {
      let name = try Self.name(name)
      let value = try Self.value(value, of: name)
      values[name] = values[name].map { $0 + "," + value } ?? value
    }
    for (name, value) in added { values[name] = try Self.value(value, of: name) }
    headers = values.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    let signed = headers.filter { Self.isSigned($0.name) }
    signedHeaders = signed.map(\.name).joined(separator: ";")
    target = query.isEmpty ? path : path + "?" + query
    var lines = [request.method.rawValue, path, query]
    lines += signed.map { $0.name + ":" + $0.value }
    lines += ["", signedHeaders, request.payload.text]
    text = lines.joined(separator: "\n")
  }

  /// Encodes a query, sorted by encoded name and then by encoded value.
  static func query(_ fields: [SigningRequest.Field]) -> String {
    let encoded = fields.map {
      (Array(PercentEncoding.encode($0.name).utf8), PercentEncoding.encode($0.value))
    }
    let sorted = encoded.ordered { one, other in
      one.0 == other.0
        ? one.1.utf8.lexicographicallyPrecedes(other.1.utf8) : one.0.lexicographicallyPrecedes(other.0)
    }
    return sorted.map { String(decoding: $0.0, as: UTF8.self) + "=" + $0.1 }.joined(separator: "&")
  }

  /// Whether a header is signed: only headers that proxies have no reason to change.
  private static func isSigned(_ name: String) -> Bool {
    switch name {
    case "host", "date", "content-type", "content-md5", "range", "if-match", "if-none-match": true
    default: name.hasPrefix("x-amz-")
    }
  }

  private static func name(_ name: String) throws(ObjectStoreError) -> String {
    let isToken = name.utf8.allSatisfy { byte in
      switch byte | 0x20 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): byte > 0x40
      default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
      }
    }
    guard !name.isEmpty, isToken else {
      throw ObjectStoreError(.failed(.invalid), "a header name is empty or contains invalid characters")
    }
    return name.lowercased()
  }

  /// Trims a header value and collapses consecutive spaces; it is signed and sent in this form.
  private static func value(_ value: String, of name: String) throws(ObjectStoreError) -> String {
    let hasControls = value.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    guard !hasControls else {
      throw ObjectStoreError(.failed(.invalid), "the header \(name) contains a control character")
    }
    let words = value.utf8.split { $0 == 0x20 || $0 == 0x09 }
    return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }
}

/// Percent-encoding as S3 requires it: every byte of UTF-8 except letters, digits and "-._~", encoded once.
enum PercentEncoding {
  /// - Parameter keepsSlashes: true for paths
  static func encode(_ text: String, keepsSlashes: Bool = false) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      case UInt8(ascii: "/") where keepsSlashes:
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

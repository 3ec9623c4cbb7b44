/// A request in the one form in which both sides sign it.
struct CanonicalRequest {
  /// Path and query as they are sent.
  let target: String
  /// All headers with their values as they are sent, by name.
  let headers: [SigningRequest.Field]
  /// Names of the signed headers, between semicolons.
  let signedHeaders: String
  let text: String

  /// - Parameter added: headers that take the place of the caller's
  /// - Throws: `.failed(.invalid)` for a path or header that cannot be sent as it is
  init(_ request: SigningRequest, adding added: [String: String]) throws(ObjectStoreError) {
    guard request.path.utf8.first == UInt8(ascii: "/") else {
      throw ObjectStoreError(.failed(.invalid), "the path of a request does not begin with a slash")
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
    headers = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    let signed = headers.filter { Self.isSigned($0.name) }
    signedHeaders = signed.map(\.name).joined(separator: ";")
    target = query.isEmpty ? path : path + "?" + query
    var lines = [request.method.rawValue, path, query]
    lines += signed.map { $0.name + ":" + $0.value }
    lines += ["", signedHeaders, request.payload.text]
    text = lines.joined(separator: "\n")
  }

  /// By name and then by value, both as they are encoded.
  static func query(_ fields: [SigningRequest.Field]) -> String {
    let encoded = fields.map {
      (Array(PercentEncoding.encode($0.name).utf8), PercentEncoding.encode($0.value))
    }
    let sorted = encoded.sorted { one, other in
      one.0 == other.0
        ? one.1.utf8.lexicographicallyPrecedes(other.1.utf8) : one.0.lexicographicallyPrecedes(other.0)
    }
    return sorted.map { String(decoding: $0.0, as: UTF8.self) + "=" + $0.1 }.joined(separator: "&")
  }

  /// Only what no proxy on the way has a reason to change.
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
    guard !name.isEmpty, isToken else { throw ObjectStoreError(.failed(.invalid), "not a name of a header") }
    return name.lowercased()
  }

  /// Without spaces around it, and one where there are several: so it is signed, and so it is sent.
  private static func value(_ value: String, of name: String) throws(ObjectStoreError) -> String {
    let hasControls = value.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    guard !hasControls else {
      throw ObjectStoreError(.failed(.invalid), "the header \(name) has a control character in it")
    }
    let words = value.utf8.split { $0 == 0x20 || $0 == 0x09 }
    return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }
}

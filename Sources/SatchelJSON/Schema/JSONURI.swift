/// The parts of RFC 3986 (URI) that references between schemas need.
enum JSONURI {
  /// Splits a URI reference at "#".
  static func split(_ text: String) -> (uri: String, fragment: String) {
    let bytes = text.utf8
    guard let hash = bytes.firstIndex(of: UInt8(ascii: "#")) else { return (text, "") }
    return (String(text[..<hash]), String(text[bytes.index(after: hash)...]))
  }

  /// Resolves a reference against a base URI; the result is absolute if the base is.
  static func resolve(_ reference: String, against base: String) -> String {
    if reference.isEmpty { return base }
    if schemeEnd(reference) != nil { return reference }
    let authority = authorityEnd(base)
    if reference.hasPrefix("//") {
      return schemeEnd(base).map { String(base[..<$0]) + reference } ?? reference
    }
    let (prefix, path) = (base[..<authority], base[authority...].prefix { $0 != "?" })
    let query = reference.firstIndex(of: "?") ?? reference.endIndex
    let target = reference[..<query]
    if target.isEmpty { return prefix + path + reference }
    if target.hasPrefix("/") { return prefix + withoutDots(target) + reference[query...] }
    // A relative path replaces the base's last segment.
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? (prefix.isEmpty ? "" : "/")
    return prefix + withoutDots(folder + target) + reference[query...]
  }

  /// Decodes percent escapes; returns nil for an invalid escape, or bytes that are not UTF-8.
  static func unescaped(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ JSONScanner.hexDigit($0) }),
        let low = rest.popFirst().flatMap({ JSONScanner.hexDigit($0) })
      else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: high << 4 | low))
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Returns the end of the scheme, after the colon of "https:"; nil when there is no scheme.
  private static func schemeEnd(_ text: String) -> String.Index? {
    guard let end = text.firstIndex(where: { !$0.isLetter && !$0.isNumber && !"+-.".contains($0) }),
      text[end] == ":", text.first?.isLetter == true
    else { return nil }
    return text.index(after: end)
  }

  /// Returns the end of the authority, where the path begins.
  private static func authorityEnd(_ text: String) -> String.Index {
    let start = schemeEnd(text) ?? text.startIndex
    guard text[start...].hasPrefix("//") else { return start }
    return text[text.index(start, offsetBy: 2)...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
  }

  private static func withoutDots(_ path: some StringProtocol) -> String {
    var kept: [Substring] = []
    let segments = String(path).split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        if kept.count > 1 || kept.first?.isEmpty == false { kept.removeLast() }
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return kept.joined(separator: "/")
  }
}

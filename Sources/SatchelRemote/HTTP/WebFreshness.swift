import CCurl

/// For how long an answer is fresh, and when a request may be repeated, as the headers of a response say (RFC 9111).
package enum WebFreshness {
  /// The longest time that is believed, in seconds: a year.
  package static let maximum: Int64 = 366 * 24 * 60 * 60

  /// Returns for how many more seconds a response is fresh; nil where it does not say.
  ///
  /// This client stores what it gets whatever the response says: no-store, no-cache and a lifetime that cannot be read mean
  /// that it has to be asked for again. s-maxage is for caches that several people share.
  ///
  /// - Parameters:
  ///   - headers: by name in lower case
  ///   - now: in Unix milliseconds, for a response without Date
  package static func maxAge(_ headers: [String: String], now: Int64) -> Int64? {
    let directives = directives(headers["cache-control"] ?? "")
    if directives.contains(where: { $0.name == "no-store" || $0.name == "no-cache" }) { return 0 }
    let ages = directives.filter { $0.name == "max-age" }.map { seconds($0.value) ?? 0 }
    var lifetime = ages.min()
    if lifetime == nil, let expires = headers["expires"] {
      let sent = headers["date"].flatMap(date) ?? now / 1000
      lifetime = date(expires).map { $0 - sent } ?? 0
    }
    guard let lifetime else { return directives.contains { $0.name == "must-revalidate" } ? 0 : nil }
    let age = headers["age"].flatMap(seconds) ?? 0
    return min(max(lifetime - age, 0), maximum)
  }

  /// Returns the seconds after which a request may be repeated; nil where the response does not say it.
  ///
  /// - Parameter now: in Unix milliseconds, for a response without Date
  package static func retryAfter(_ headers: [String: String], now: Int64) -> Int64? {
    guard let text = headers["retry-after"] else { return nil }
    if let seconds = seconds(text) { return min(seconds, maximum) }
    // Against the server's own clock: this device's may be off.
    let sent = headers["date"].flatMap(date) ?? now / 1000
    return date(text).map { min(max($0 - sent, 0), maximum) }
  }

  /// Returns a number of seconds that a host states, at most the maximum; nil for a negative one.
  package static func seconds(_ number: Int64) -> Int64? { number < 0 ? nil : min(number, maximum) }

  /// Reads a date of HTTP, in Unix seconds; nil for anything else, as the "0" of many an Expires.
  private static func date(_ text: String) -> Int64? {
    let date = Int64(ccurl_date(text))
    return date > 0 && date < 1 << 40 ? date : nil
  }

  /// Reads a number of seconds; one that is too large is as large as can be.
  private static func seconds(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return min(Int64(text) ?? maximum, maximum)
  }

  /// Splits a list such as `max-age=60, private="a, b"`; names are in lower case, values without quotes.
  private static func directives(_ text: String) -> [(name: String, value: String)] {
    var (parts, part, isQuoted): ([[UInt8]], [UInt8], Bool) = ([], [], false)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: ","), !isQuoted {
        parts.append(part)
        part = []
      } else if byte > 0x20, byte != UInt8(ascii: "\"") {
        part.append(byte)
      }
    }
    return (parts + [part]).map { part in
      let name = part.prefix { $0 != UInt8(ascii: "=") }
      return (
        String(decoding: name, as: UTF8.self).lowercased(),
        String(decoding: part.dropFirst(name.count + 1), as: UTF8.self)
      )
    }
  }
}

import SatchelCore

/// The checksum of a head, which is the last member of its line, whatever its format: the SHA-256 of all other bytes. One
/// that does not fit tells damage from a newer format, and from what a writer meant.
enum SyncHeadChecksum {
  static let member = "sha256"
  private static let start = ",\"\(member)\":\""
  private static let digits = 64

  /// Ends a line of members with the checksum.
  static func added(to line: [UInt8], _ frames: [UInt8]) -> [UInt8] {
    line + Array(ending(line[...], frames[...]).utf8) + [UInt8(ascii: "\n")] + frames
  }

  private static func ending(_ line: ArraySlice<UInt8>, _ frames: ArraySlice<UInt8>) -> String {
    var hash = SHA256()
    line.withUnsafeBytes { hash.update($0) }
    [UInt8(ascii: "\n")].withUnsafeBytes { hash.update($0) }
    frames.withUnsafeBytes { hash.update($0) }
    return "\(start)\(hash.digest().hexadecimal)\"}"
  }

  /// The line before the checksum, and the bytes after the line.
  static func parts(of body: [UInt8]) -> (line: ArraySlice<UInt8>, frames: ArraySlice<UInt8>) {
    let line = body.prefix { $0 != UInt8(ascii: "\n") }
    return (line.dropLast(start.utf8.count + digits + 2), body[line.endIndex...].dropFirst())
  }

  /// Whether the bytes are those that were written.
  static func isRight(_ body: [UInt8]) -> Bool {
    let (line, frames) = parts(of: body)
    var rest = Array(ending(line, frames).utf8)
    rest.append(UInt8(ascii: "\n"))
    return body.dropFirst(line.count).prefix(rest.count).elementsEqual(rest)
  }

  // MARK: Keys

  /// Whose head the bytes of a damaged one were.
  enum Owner: Equatable {
    case own
    case other
    /// Too little is left, or nothing that is like a head.
    case unknown
  }

  /// What is left of the beginning of a damaged head, where the name of its key is.
  ///
  /// - Parameter key: the name of one's own key; nil for a log that is not encrypted
  static func owner(of body: [UInt8], key: String?) -> Owner {
    let sealed = "{\"format\":\(SyncHead.format),\"key\":\""
    if isNearly(body[...], sealed) {
      guard let key else { return .other }
      // The names of two keys have hardly a digit in common.
      let shown = body.dropFirst(sealed.utf8.count)
      let found = differences(shown, key)
      if found > tolerated { return .other }
      if shown.count >= key.utf8.count { return .own }
      // The head was cut within the name. What is left of it has to fit exactly.
      return found == 0 && shown.count >= telling ? .own : .unknown
    }
    guard isNearly(body[...], "{\"format\":\(SyncHead.format),\"epoch\":") else { return .unknown }
    return key == nil ? .own : .other
  }

  private static func differences(_ bytes: ArraySlice<UInt8>, _ text: String) -> Int {
    zip(bytes, text.utf8).count { $0 != $1 }
  }

  private static func isNearly(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
    bytes.count >= text.utf8.count && differences(bytes, text) <= tolerated
  }

  /// Bytes in which a piece of a damaged head may differ from what it was.
  private static let tolerated = 2

  /// The number of digits that distinguish the beginning of a name from that of another one.
  private static let telling = 8
}

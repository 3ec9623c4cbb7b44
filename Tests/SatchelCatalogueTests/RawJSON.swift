import Foundation

/// JSON parsed with raw scalars: numbers and strings stay as written. It is
/// independent of the library's parsers, to test them.
indirect enum RawJSON: Equatable {
  case scalar(String)
  case array([RawJSON])
  case object([(key: String, value: RawJSON)])

  struct Failure: Error { var offset: Int }

  init(parsing bytes: [UInt8]) throws {
    var reader = Reader(bytes: bytes)
    self = try reader.value()
  }

  init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

  static func == (one: RawJSON, other: RawJSON) -> Bool { one.text == other.text }

  /// The text without white space between the tokens.
  var text: String {
    switch self {
    case .scalar(let text): text
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members): "{" + members.map { $0.key + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  /// Returns the member whose decoded key is `name`.
  func member(_ name: String) -> RawJSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { RawJSON.meaning($0.key) == name }?.value
  }

  /// Returns the value of a raw string.
  static func meaning(_ text: String) -> String? {
    try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? String
  }

  /// Returns a copy without all members named `_storage`.
  var withoutStorage: RawJSON {
    switch self {
    case .scalar: self
    case .array(let elements): .array(elements.map(\.withoutStorage))
    case .object(let members):
      .object(members.filter { !RawJSON.isStorage($0.key) }.map { ($0.key, $0.value.withoutStorage) })
    }
  }

  /// Returns the tags of all objects, with their pointers; tags inside a tag do not count.
  func tags(at pointer: String = "") -> [(pointer: String, value: RawJSON)] {
    switch self {
    case .scalar: return []
    case .array(let elements): return elements.enumerated().flatMap { $1.tags(at: "\(pointer)/\($0)") }
    case .object(let members):
      return members.flatMap { member -> [(pointer: String, value: RawJSON)] in
        let name = (RawJSON.meaning(member.key) ?? "")
          .replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
        if RawJSON.isStorage(member.key) { return [(pointer + "/_storage", member.value)] }
        return member.value.tags(at: pointer + "/" + name)
      }
    }
  }

  private static func isStorage(_ key: String) -> Bool {
    key == "\"_storage\"" || (key.utf8.contains(UInt8(ascii: "\\")) && meaning(key) == "_storage")
  }

  private struct Reader {
    let bytes: [UInt8]
    var offset = 0

    private mutating func peek() throws -> UInt8 {
      while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
      guard offset < bytes.count else { throw Failure(offset: offset) }
      return bytes[offset]
    }

    mutating func value() throws -> RawJSON {
      switch try peek() {
      case UInt8(ascii: "["):
        offset += 1
        var elements: [RawJSON] = []
        while try peek() != UInt8(ascii: "]") {
          elements.append(try value())
          if try peek() == UInt8(ascii: ",") { offset += 1 }
        }
        offset += 1
        return .array(elements)
      case UInt8(ascii: "{"):
        offset += 1
        var members: [(key: String, value: RawJSON)] = []
        while try peek() != UInt8(ascii: "}") {
          let key = try string()
          guard try peek() == UInt8(ascii: ":") else { throw Failure(offset: offset) }
          offset += 1
          members.append((key, try value()))
          if try peek() == UInt8(ascii: ",") { offset += 1 }
        }
        offset += 1
        return .object(members)
      case UInt8(ascii: "\""): return .scalar(try string())
      default:
        let start = offset
        while offset < bytes.count, !Array(" \t\r\n,]}:".utf8).contains(bytes[offset]) { offset += 1 }
        guard offset > start else { throw Failure(offset: offset) }
        return .scalar(String(decoding: bytes[start..<offset], as: UTF8.self))
      }
    }

    private mutating func string() throws -> String {
      guard try peek() == UInt8(ascii: "\"") else { throw Failure(offset: offset) }
      let start = offset
      offset += 1
      while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
        offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
      }
      offset += 1
      guard offset <= bytes.count else { throw Failure(offset: offset) }
      return String(decoding: bytes[start..<offset], as: UTF8.self)
    }
  }
}

import SatchelJSON

/// JSON bytes with a placeholder for each entity.
///
/// The bytes are valid JSON: each placeholder is the single byte `0`. There is no white space around a
/// placeholder, so that the adjacent bytes suffice to remove it together with its key and one comma.
struct Template<Target> {
  struct Placeholder {
    /// The offset of the placeholder in the bytes.
    var offset: Int
    /// The number of bytes of `"key":` before it; 0 for an element of an array.
    var prefix: Int
    var target: Target
  }

  var bytes: [UInt8] = []
  var placeholders: [Placeholder] = []
}

extension Template.Placeholder: Equatable where Target: Equatable {}

/// An entity that a section references, by row, so that loading needs no index lookup.
struct SectionTarget: Equatable {
  var entity: Int64
  /// The narrowest scope of the entity and of those that it is nested in: a location that it covers sees the
  /// entity.
  var scope: Scope
}

/// A reference to a nested entity, by id: places may share the outer entity and each have their own variant
/// of the inner one.
struct EntityTarget: Hashable {
  var entityID: String
  var scope: Scope

  // Compared by bytes: Swift compares "é" and its decomposed form as equal, but a backend has them as two
  // ids.
  static func == (one: Self, other: Self) -> Bool {
    one.scope == other.scope && one.entityID.hasSameBytes(as: other.entityID)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(scope)
    var id = entityID
    id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// The encoding of placeholders in the database: little-endian 32-bit words, with the entity's row in two of
/// them.
enum PlaceholderCoding {
  /// The offset for an entity that is nested in another one of the section and has no placeholder of its own.
  static let nested = Int(UInt32.max)
  private static let sectionStride = 20

  static func encode(_ placeholders: [Template<SectionTarget>.Placeholder]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(placeholders.count * sectionStride)
    for placeholder in placeholders {
      append(placeholder.offset, to: &bytes)
      append(placeholder.prefix, to: &bytes)
      withUnsafeBytes(of: placeholder.target.entity.littleEndian) { bytes.append(contentsOf: $0) }
      append(placeholder.target.scope.rawValue, to: &bytes)
    }
    return bytes
  }

  /// Decodes the placeholders of a section; skips those that a damaged file made invalid.
  static func decodeSection(_ bytes: UnsafeRawBufferPointer) -> [Template<SectionTarget>.Placeholder] {
    var placeholders: [Template<SectionTarget>.Placeholder] = []
    placeholders.reserveCapacity(bytes.count / sectionStride)
    var index = 0
    while index + sectionStride <= bytes.count {
      let entity = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: index + 8, as: Int64.self))
      if let scope = Scope(rawValue: word(bytes, index + 16)) {
        placeholders.append(
          .init(
            offset: word(bytes, index), prefix: word(bytes, index + 4),
            target: SectionTarget(entity: entity, scope: scope)))
      }
      index += sectionStride
    }
    return placeholders
  }

  static func encode(_ placeholders: [Template<EntityTarget>.Placeholder]) -> [UInt8] {
    var bytes: [UInt8] = []
    for placeholder in placeholders {
      append(placeholder.offset, to: &bytes)
      append(placeholder.prefix, to: &bytes)
      append(placeholder.target.scope.rawValue, to: &bytes)
      append(placeholder.target.entityID.utf8.count, to: &bytes)
      bytes.append(contentsOf: placeholder.target.entityID.utf8)
    }
    return bytes
  }

  static func decodeEntity(_ bytes: UnsafeRawBufferPointer) -> [Template<EntityTarget>.Placeholder] {
    var placeholders: [Template<EntityTarget>.Placeholder] = []
    var index = 0
    while index + 16 <= bytes.count {
      let length = word(bytes, index + 12)
      guard index + 16 + length <= bytes.count else { break }
      if let scope = Scope(rawValue: word(bytes, index + 8)) {
        let name = String(decoding: bytes[index + 16..<index + 16 + length], as: UTF8.self)
        placeholders.append(
          .init(
            offset: word(bytes, index), prefix: word(bytes, index + 4),
            target: EntityTarget(entityID: name, scope: scope)))
      }
      index += 16 + length
    }
    return placeholders
  }

  private static func append(_ value: Int, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
    Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}

/// The `_storage` member of an entity.
struct StorageTag: Equatable {
  var entityID: String
  var scope: Scope
  /// In milliseconds.
  var timeToLive: Int64

  static let key: StaticString = "_storage"
  static let defaultHours: Double = 168
  /// One thousand years: long enough for any content, and short enough that an expiry time cannot overflow.
  private static let maxMilliseconds: Double = 1000 * 366 * 24 * 3_600_000

  /// The reason why a tag is malformed, and its location in the tag.
  struct ParseError: Error, Equatable {
    /// The member of the tag; "" for the tag itself.
    var member: String
    var reason: String
  }

  /// Reads the value of a `_storage` member.
  init(_ tape: JSONTape, at index: Int) throws(ParseError) {
    guard tape[index].kind == .object else {
      throw ParseError(member: "", reason: "_storage must be an object")
    }
    guard let id = tape.member("entity_id", of: index) else {
      throw ParseError(member: "", reason: "_storage has no entity_id")
    }
    guard tape[id].kind == .string, tape[id].start < tape[id].end else {
      throw ParseError(member: "entity_id", reason: "entity_id must be a string that is not empty")
    }
    guard let scope = tape.member("scope", of: index) else {
      throw ParseError(member: "", reason: "_storage has no scope")
    }
    guard tape[scope].kind == .string, let known = Scope(name: tape.text(scope)) else {
      throw ParseError(member: "scope", reason: "unknown scope \(tape.brief(scope))")
    }
    var stated: Int64?
    if let hours = tape.member("ttl_hours", of: index) { stated = try Self.timeToLive(tape, at: hours) }
    entityID = tape.text(id)
    self.scope = known
    timeToLive = stated ?? Self.milliseconds(Self.defaultHours)
  }

  /// Reads a number of hours in milliseconds; nil for null.
  static func timeToLive(_ tape: JSONTape, at index: Int) throws(ParseError) -> Int64? {
    if tape[index].kind == .null { return nil }
    guard tape[index].kind == .integer || tape[index].kind == .double,
      let number = Double(tape.text(index)), number.isFinite
    else {
      throw ParseError(
        member: "ttl_hours", reason: "ttl_hours must be a number of hours, not \(tape.brief(index))")
    }
    guard number >= 0 else {
      throw ParseError(member: "ttl_hours", reason: "ttl_hours must not be negative: \(number)")
    }
    return milliseconds(number)
  }

  // Rounded: 2.3 hours are 8,279,999.999… milliseconds, and an edit must read back what it wrote.
  static func milliseconds(_ hours: Double) -> Int64 {
    Int64(min((hours * 3_600_000).rounded(), maxMilliseconds))
  }
}

extension JSONTape {
  /// Returns the raw text of a value, truncated for a message.
  func brief(_ index: Int) -> String {
    let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[rawRange(index)]), as: UTF8.self)
    return text.count > 40 ? text.prefix(40) + "…" : text
  }
}

/// Reads the members of a JSON object; null is equivalent to a missing member.
struct MemberReader {
  private let object: JSONObject

  /// - Parameter name: the object's name for the message
  /// - Throws: `JSONError` when the value is not an object
  init(_ name: String, _ json: JSONValue) throws {
    guard case .object(let object) = json else {
      throw JSONError("\(name) must be an object, not \(json.kind)", pointer: "")
    }
    self.object = object
  }

  subscript(key: String) -> JSONValue? { object[key] }

  func string(_ key: String) throws -> String? { try read(key, as: "a string") { $0.stringValue } }
  func number(_ key: String) throws -> Double? { try read(key, as: "a number") { $0.doubleValue } }

  /// Returns an integer; other encoders may have written it as a double.
  func integer(_ key: String) throws -> Int64? {
    try read(key, as: "an integer") { $0.intValue ?? $0.doubleValue.flatMap { Int64(exactly: $0) } }
  }

  /// Returns the strings of an array; empty when it is missing.
  func strings(_ key: String) throws -> [String] {
    try read(key, as: "an array of strings") { value in
      guard let elements = value.arrayValue else { return nil }
      let strings = elements.compactMap(\.stringValue)
      return strings.count == elements.count ? strings : nil
    } ?? []
  }

  func value<Value: JSONCodable>(_ key: String, as type: Value.Type) throws -> Value? {
    guard let value = object[key], !value.isNull else { return nil }
    do {
      return try Value(json: value)
    } catch let error as JSONError {
      throw JSONError(error.reason, pointer: JSONPath.pointer([key]) + (error.pointer ?? ""))
    }
  }

  func required<Value>(_ key: String, _ value: Value?) throws -> Value {
    guard let value else { throw JSONError("there is no \"\(key)\"", pointer: "") }
    return value
  }

  private func read<Value>(
    _ key: String, as kind: String, _ convert: (JSONValue) -> Value?
  ) throws -> Value? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let result = convert(value) else {
      throw JSONError("\"\(key)\" is \(value.kind), not \(kind)", pointer: JSONPath.pointer([key]))
    }
    return result
  }
}

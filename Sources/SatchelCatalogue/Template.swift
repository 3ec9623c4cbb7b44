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

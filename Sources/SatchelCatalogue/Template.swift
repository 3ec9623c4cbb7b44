import SatchelJSON

/// JSON bytes with holes where entities belong.
///
/// The bytes are valid JSON by themselves: each hole is the single byte `0`. Around holes there is no white
/// space, so that a hole can be taken out together with its key and one comma by looking at its neighbours.
struct Template<Target> {
  struct Hole {
    /// Where the placeholder stands.
    var offset: Int
    /// Bytes of `"key":` before it, 0 for an element of an array.
    var prefix: Int
    var target: Target
  }

  var bytes: [UInt8] = []
  var holes: [Hole] = []
}

/// An entity that a section refers to, by row, so that restoring needs no second look-up.
struct SectionTarget: Equatable {
  var entity: Int64
  /// The narrowest scope of the entity and of those that it is nested in: who sees this, sees the entity.
  var scope: Scope
}

/// An entity nested in another, by name: the outer one may be shared between places that each have an inner
/// one of their own.
struct EntityTarget: Hashable {
  var entityID: String
  var scope: Scope

  // By bytes: to Swift "é" and its decomposed form are one text, to a backend they are two ids.
  static func == (one: Self, other: Self) -> Bool {
    one.scope == other.scope && one.entityID.hasSameBytes(as: other.entityID)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(scope)
    var id = entityID
    id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// How holes lie in the database: little-endian 32-bit words, the entity's row in two of them.
enum HoleCoding {
  /// The offset of an entity that is nested in another one of the section: it has no hole of its own here.
  static let nested = Int(UInt32.max)
  private static let sectionStride = 20

  static func encode(_ holes: [Template<SectionTarget>.Hole]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(holes.count * sectionStride)
    for hole in holes {
      append(hole.offset, to: &bytes)
      append(hole.prefix, to: &bytes)
      withUnsafeBytes(of: hole.target.entity.littleEndian) { bytes.append(contentsOf: $0) }
      append(hole.target.scope.rawValue, to: &bytes)
    }
    return bytes
  }

  /// Holes of a section; what a damaged file makes impossible is left out.
  static func decodeSection(_ bytes: UnsafeRawBufferPointer) -> [Template<SectionTarget>.Hole] {
    var holes: [Template<SectionTarget>.Hole] = []
    holes.reserveCapacity(bytes.count / sectionStride)
    var index = 0
    while index + sectionStride <= bytes.count {
      let entity = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: index + 8, as: Int64.self))
      if let scope = Scope(rawValue: word(bytes, index + 16)) {
        holes.append(
          .init(
            offset: word(bytes, index), prefix: word(bytes, index + 4),
            target: SectionTarget(entity: entity, scope: scope)))
      }
      index += sectionStride
    }
    return holes
  }

  static func encode(_ holes: [Template<EntityTarget>.Hole]) -> [UInt8] {
    var bytes: [UInt8] = []
    for hole in holes {
      append(hole.offset, to: &bytes)
      append(hole.prefix, to: &bytes)
      append(hole.target.scope.rawValue, to: &bytes)
      append(hole.target.entityID.utf8.count, to: &bytes)
      bytes.append(contentsOf: hole.target.entityID.utf8)
    }
    return bytes
  }

  static func decodeEntity(_ bytes: UnsafeRawBufferPointer) -> [Template<EntityTarget>.Hole] {
    var holes: [Template<EntityTarget>.Hole] = []
    var index = 0
    while index + 16 <= bytes.count {
      let length = word(bytes, index + 12)
      guard index + 16 + length <= bytes.count else { break }
      if let scope = Scope(rawValue: word(bytes, index + 8)) {
        let name = String(decoding: bytes[index + 16..<index + 16 + length], as: UTF8.self)
        holes.append(
          .init(
            offset: word(bytes, index), prefix: word(bytes, index + 4),
            target: EntityTarget(entityID: name, scope: scope)))
      }
      index += 16 + length
    }
    return holes
  }

  private static func append(_ value: Int, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
    Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}

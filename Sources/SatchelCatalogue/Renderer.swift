import SatchelJSON
import SatchelStorage

/// Entity ids in the order they were met, each once.
struct IDList {
  private(set) var ids: [String] = []
  // By bytes: to Swift "é" and its decomposed form are one text, to a backend they are two ids.
  private var known: Set<EntityTarget> = []

  mutating func add(_ id: String) {
    if known.insert(EntityTarget(entityID: id, scope: .global)).inserted { ids.append(id) }
  }
}

/// Fills templates: puts entities back where they belong, and takes out what must not show.
struct Renderer {
  /// The most that one section may become: entities that hold each other could grow without bound.
  static let mostBytes = 256 << 20

  let entities: EntityTable
  let variants: () throws -> VariantIndex.View
  /// Places of the location that looks, to find nested entities by.
  let chain: PlaceChain
  let coverage: Coverage
  let now: Int64
  let allowsExpired: Bool
  /// Whether entities keep their `_storage`, as an edit needs it.
  var keepsTags = false

  var output: [UInt8] = []
  var missing = IDList()
  var expired = IDList()
  private var open: [Int64] = []

  init(
    entities: EntityTable, variants: @escaping () throws -> VariantIndex.View, chain: PlaceChain,
    coverage: Coverage, now: Int64, allowsExpired: Bool
  ) {
    self.entities = entities
    self.variants = variants
    self.chain = chain
    self.coverage = coverage
    self.now = now
    self.allowsExpired = allowsExpired
  }

  /// Writes a section.
  mutating func render(_ template: Template<SectionTarget>) throws {
    let holes = template.holes.filter { $0.offset != HoleCoding.nested }
    try template.bytes.withUnsafeBytes { bytes in
      try fill(bytes, holes) { renderer, target in
        guard renderer.coverage.contains(target.scope) else { return false }
        return try renderer.append(target.entity)
      }
    }
    if output.isEmpty { output.append(contentsOf: "null".utf8) }
  }

  private mutating func append(_ row: Int64) throws -> Bool {
    guard let record = try entities.record(row) else { return false }
    return try append(record)
  }

  /// Writes an entity's content.
  ///
  /// - Returns: false when it must not show.
  mutating func append(_ record: EntityRecord) throws -> Bool {
    guard record.size != nil else {
      missing.add(record.entityID)
      return try keepsTags && appendMissing(record)
    }
    if record.isExpired(at: now) {
      expired.add(record.entityID)
      if !allowsExpired { return false }
    }
    // Updates from different places may have nested two entities in each other.
    guard !open.contains(record.row), output.count <= Self.mostBytes else {
      missing.add(record.entityID)
      return false
    }
    open.append(record.row)
    defer { open.removeLast() }
    guard try appendContent(of: record) else {
      missing.add(record.entityID)
      return false
    }
    if keepsTags { try appendTag(of: record) }
    return true
  }

  private mutating func appendContent(of record: EntityRecord) throws -> Bool {
    // Most entities hold no others: their bytes go straight from the page to the output.
    var nested: (bytes: [UInt8], holes: [Template<EntityTarget>.Hole])?
    let isThere = try entities.withContent(of: record.row) { bytes, holes -> Bool in
      if holes.isEmpty { output.append(contentsOf: bytes) } else { nested = (Array(bytes), holes) }
      return true
    }
    if let nested {
      try nested.bytes.withUnsafeBytes { bytes in
        try fill(bytes, nested.holes) { renderer, target in try renderer.append(target) }
      }
    }
    return isThere ?? false
  }

  /// What an edit sees of an entity that was pruned: nothing but who it is, so that it is still missed afterwards.
  private mutating func appendMissing(_ record: EntityRecord) throws -> Bool {
    output.append(contentsOf: "{}".utf8)
    try appendTag(of: record)
    return true
  }

  private mutating func append(_ target: EntityTarget) throws -> Bool {
    guard let place = chain.place(of: target.scope) else { return false }
    let variant = VariantIndex.Variant(entityID: target.entityID, scope: target.scope, place: place)
    guard let row = try variants().find(variant), let record = try entities.record(row),
      record.size != nil || keepsTags
    else {
      // Of another place's content only what covers the location is missed, as in its plan.
      if coverage.contains(target.scope) { missing.add(target.entityID) }
      return false
    }
    return try append(record)
  }

  private mutating func appendTag(of record: EntityRecord) throws {
    guard output.last == UInt8(ascii: "}") else { return }
    output.removeLast()
    // Bodies are as they were sent, white space and all.
    while let last = output.last, last <= UInt8(ascii: " ") { output.removeLast() }
    if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
    let tag: JSONValue = [
      "entity_id": .string(record.entityID), "scope": .string(record.scope.name),
      "ttl_hours": .double(Double(record.timeToLive) / 3_600_000),
    ]
    output.append(contentsOf: "\"_storage\":\(try tag.text)}".utf8)
  }

  /// Copies a template's bytes and lets `fillHole` write where the holes are. A hole that stays empty goes
  /// together with its key and one comma.
  private mutating func fill<Target>(
    _ bytes: UnsafeRawBufferPointer, _ holes: [Template<Target>.Hole],
    fillHole: (inout Renderer, Target) throws -> Bool
  ) throws {
    var position = 0
    for hole in holes {
      // A damaged file may say anything.
      guard hole.offset >= position, hole.offset < bytes.count, hole.prefix <= hole.offset - position else {
        throw SatchelError(.damaged, "a section's references do not fit its content")
      }
      append(bytes, position, hole.offset)
      position = hole.offset + 1
      if try fillHole(&self, hole.target) { continue }
      output.removeLast(min(hole.prefix, output.count))
      if position < bytes.count, bytes[position] == UInt8(ascii: ",") {
        position += 1
      } else if output.last == UInt8(ascii: ",") {
        output.removeLast()
      }
    }
    append(bytes, position, bytes.count)
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) {
    guard start < end else { return }
    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
  }
}

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
///
/// Entities hold others by name, so what one section becomes is decided by what other sections brought: a chain of
/// entities can be of any length, and grow with each. So it does not recurse, an entity that occurs again is copied from
/// the output, and there are limits.
struct Renderer {
  /// How much one section may become: bytes, entities with each of their appearances, and levels of JSON, less the one
  /// around the content.
  static let maxBytes = 256 << 20
  static let maxEntities = 100_000
  static let maxDepth = JSONScanner.maximumDepth - 1

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
  /// Appearances of entities in the output.
  private var count = 0
  /// What is being filled, the innermost last, and the entities among it, by row.
  private var open: [Frame] = []
  private var levels: [Int64: Int] = [:]
  private var rendered: [Int64: Rendered] = [:]

  /// A template that is being filled.
  private struct Frame {
    /// The entity that it is the body of; nil for a section's.
    var record: EntityRecord?
    var bytes: [UInt8]
    var holes: [Hole]
    var nextHole = 0
    var position = 0
    /// Where it begins in the output, and how many entities are before it.
    var start: Int
    var countBefore: Int
    /// The most levels of JSON that the entities in it can have.
    var innerDepth = 0
    /// The outermost frame that an entity was left out for, since it is nested in itself there.
    var cycle = Int.max
  }

  private struct Hole {
    enum Target {
      case row(SectionTarget)
      case entity(EntityTarget)
    }

    var offset: Int
    var prefix: Int
    var target: Target
  }

  /// An entity in the output.
  private struct Rendered {
    var range: Range<Int>
    var count: Int
    var depth: Int
  }

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
  ///
  /// - Throws: `.invalid` when it would be larger than it may be, naming the entity
  mutating func render(_ template: Template<SectionTarget>) throws {
    let holes = template.holes.filter { $0.offset != HoleCoding.nested }
      .map { Hole(offset: $0.offset, prefix: $0.prefix, target: .row($0.target)) }
    open.append(Frame(bytes: template.bytes, holes: holes, start: 0, countBefore: 0))
    try fillFrames()
    if output.isEmpty { output.append(contentsOf: "null".utf8) }
  }

  /// Writes an entity's content.
  ///
  /// - Returns: false when it must not show.
  mutating func render(_ record: EntityRecord) throws -> Bool {
    open.append(Frame(bytes: [], holes: [], start: 0, countBefore: 0))
    let isShown = try append(record) != .leftOut
    try fillFrames()
    return isShown
  }

  // MARK: Frames

  private enum Appended { case leftOut, whole, opened }

  private mutating func fillFrames() throws {
    while let level = open.indices.last {
      if open[level].nextHole < open[level].holes.count {
        try fillHole(of: level)
      } else {
        try close(level)
      }
    }
  }

  /// Copies what is before the next hole and writes into it. A hole that stays empty goes together with its key and one
  /// comma.
  private mutating func fillHole(of level: Int) throws {
    let hole = open[level].holes[open[level].nextHole]
    let position = open[level].position
    // A damaged file may say anything.
    guard hole.offset >= position, hole.offset < open[level].bytes.count,
      hole.prefix >= 0, hole.prefix <= hole.offset - position
    else { throw SatchelError(.damaged, "a section's references do not fit its content") }
    output.append(contentsOf: open[level].bytes[position..<hole.offset])
    open[level].nextHole += 1
    open[level].position = hole.offset + 1
    guard try append(hole.target) == .leftOut else { return }
    output.removeLast(min(hole.prefix, output.count))
    if hole.offset + 1 < open[level].bytes.count,
      open[level].bytes[hole.offset + 1] == UInt8(ascii: ",")
    {
      open[level].position += 1
    } else if output.last == UInt8(ascii: ",") {
      output.removeLast()
    }
  }

  private mutating func close(_ level: Int) throws {
    guard let frame = open.popLast() else { return }
    output.append(contentsOf: frame.bytes[frame.position...])
    let depth = Self.brackets(frame.bytes) + frame.innerDepth
    guard let record = frame.record else {
      if depth > Self.maxDepth { try checkDepth() }
      return
    }
    levels[record.row] = nil
    if keepsTags { try appendTag(of: record) }
    try checkSize(at: record)
    // What was left out since it is nested in itself depends on what is around it. Of one that holds no such, nothing can
    // be open where it appears again.
    if frame.cycle == .max {
      rendered[record.row] = Rendered(
        range: frame.start..<output.count, count: count - frame.countBefore, depth: depth)
    }
    note(depth: depth, cycle: frame.cycle < level ? frame.cycle : .max)
  }

  /// Says to what is being filled what an entity in it is like.
  private mutating func note(depth: Int, cycle: Int = .max) {
    guard let level = open.indices.last else { return }
    open[level].innerDepth = max(open[level].innerDepth, depth)
    open[level].cycle = min(open[level].cycle, cycle)
  }

  // MARK: Entities

  private mutating func append(_ target: Hole.Target) throws -> Appended {
    switch target {
    case .row(let target):
      guard coverage.contains(target.scope), let record = try entities.record(target.entity) else {
        return .leftOut
      }
      return try append(record)
    case .entity(let target): return try append(target)
    }
  }

  private mutating func append(_ record: EntityRecord) throws -> Appended {
    guard record.size != nil else {
      missing.add(record.entityID)
      guard keepsTags else { return .leftOut }
      return try appendMissing(record)
    }
    if record.isExpired(at: now) {
      expired.add(record.entityID)
      if !allowsExpired { return .leftOut }
    }
    if let level = levels[record.row] {
      // Updates from different places may have nested two entities in each other.
      missing.add(record.entityID)
      note(depth: 0, cycle: level)
      return .leftOut
    }
    if let known = rendered[record.row] {
      count += known.count
      try checkSize(at: record, adding: known.range.count)
      repeatOutput(known.range)
      note(depth: known.depth)
      return .whole
    }
    return try appendContent(of: record)
  }

  /// Appends what is in the output already. A slice of it would make appending copy all of it.
  private mutating func repeatOutput(_ range: Range<Int>) {
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: range.count))
    output.withUnsafeMutableBytes { bytes in
      for index in 0..<range.count { bytes[start + index] = bytes[range.lowerBound + index] }
    }
  }

  private mutating func appendContent(of record: EntityRecord) throws -> Appended {
    let (start, before) = (output.count, count)
    // Most entities hold no others: their bytes go straight from the page to the output.
    var nested: (bytes: [UInt8], holes: [Template<EntityTarget>.Hole])?
    var depth = 0
    let isThere: Bool? = try entities.withContent(of: record.row) { bytes, holes in
      if holes.isEmpty {
        output.append(contentsOf: bytes)
        depth = Self.brackets(bytes)
      } else {
        nested = (Array(bytes), holes)
      }
      return true
    }
    guard isThere == true else {
      missing.add(record.entityID)
      return .leftOut
    }
    count += 1
    if let nested {
      // Each entity is at least one level of JSON inside of the one that holds it.
      guard open.count <= Self.maxDepth else { throw tooDeep(at: record) }
      try checkSize(at: record)
      let holes = nested.holes.map {
        Hole(offset: $0.offset, prefix: $0.prefix, target: .entity($0.target))
      }
      levels[record.row] = open.count
      open.append(
        Frame(record: record, bytes: nested.bytes, holes: holes, start: start, countBefore: before))
      return .opened
    }
    if keepsTags { try appendTag(of: record) }
    try checkSize(at: record)
    note(depth: depth)
    return .whole
  }

  /// What an edit sees of an entity that was pruned: nothing but who it is, so that it is still missed afterwards.
  private mutating func appendMissing(_ record: EntityRecord) throws -> Appended {
    count += 1
    output.append(contentsOf: "{}".utf8)
    try appendTag(of: record)
    try checkSize(at: record)
    note(depth: 2)
    return .whole
  }

  private mutating func append(_ target: EntityTarget) throws -> Appended {
    guard let place = chain.place(of: target.scope) else { return .leftOut }
    let variant = VariantIndex.Variant(entityID: target.entityID, scope: target.scope, place: place)
    guard let row = try variants().find(variant), let record = try entities.record(row),
      record.size != nil || keepsTags
    else {
      // Of another place's content only what covers the location is missed, as in its plan.
      if coverage.contains(target.scope) { missing.add(target.entityID) }
      return .leftOut
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
}

// MARK: Limits

extension Renderer {
  /// Says of what it is that a limit was exceeded.
  static func naming<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch var error as SatchelError where error.code == .invalid {
      error.message = "\(name): \(error.message)"
      throw error
    }
  }

  private func checkSize(at record: EntityRecord, adding bytes: Int = 0) throws {
    guard count <= Self.maxEntities else {
      throw tooLarge("\(Self.maxEntities) entities, each counted as often as it appears", at: record)
    }
    guard output.count + bytes <= Self.maxBytes else {
      throw tooLarge("\(Self.maxBytes >> 20) MB", at: record)
    }
  }

  private func tooLarge(_ what: String, at record: EntityRecord) -> SatchelError {
    SatchelError(
      .invalid, "with what its entities hold it is more than \(what), at entity \(record.entityID)")
  }

  private func tooDeep(at record: EntityRecord) -> SatchelError {
    SatchelError(
      .invalid,
      "with what its entities hold it has more than \(JSONScanner.maximumDepth) levels, at entity \(record.entityID)"
    )
  }

  /// Looks at all of the output, which may be too deep by what is known of its parts.
  private func checkDepth() throws {
    var (depth, isText, isEscaped) = (0, false, false)
    for byte in output {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth > Self.maxDepth {
          throw SatchelError(
            .invalid,
            "with what its entities hold it has more than \(JSONScanner.maximumDepth) levels")
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
    }
  }

  /// Opening brackets, in texts too: JSON is never deeper, and counting them is many times as fast as finding out how
  /// deep it is.
  private static func brackets(_ bytes: UnsafeRawBufferPointer) -> Int {
    var total = 0
    var start = 0
    while start < bytes.count {
      let end = min(start + 255, bytes.count)
      var few: UInt8 = 0
      // "[" and "{" differ in this bit only.
      for index in start..<end { few &+= (bytes[index] | 0x20) == UInt8(ascii: "{") ? 1 : 0 }
      total += Int(few)
      start = end
    }
    return total
  }

  private static func brackets(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes { brackets($0) } }
}

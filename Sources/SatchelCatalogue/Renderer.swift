import CScan
import SatchelCore
import SatchelJSON
import SatchelStorage

/// An ordered set of entity ids, or of other names.
struct IDList {
  private(set) var ids: [String] = []
  // Compared by bytes: Swift compares "é" and its decomposed form as equal, but a backend has them as two
  // ids.
  private var known: Set<EntityTarget> = []

  mutating func add(_ id: String) { _ = insert(id) }

  /// Returns whether the id is new.
  mutating func insert(_ id: String) -> Bool {
    guard known.insert(EntityTarget(entityID: id, scope: .global)).inserted else { return false }
    ids.append(id)
    return true
  }

  func contains(_ id: String) -> Bool { known.contains(EntityTarget(entityID: id, scope: .global)) }
}

/// Renders templates to JSON: replaces placeholders by entities, and omits entities that must not be visible.
///
/// Entities reference nested ones by id, so the size of a section depends on what other sections delivered: a
/// chain of entities can have any length, and double at each step. Therefore the renderer does not recurse,
/// copies an entity that occurs again from the output, and has limits.
struct Renderer {
  /// The limits of one rendered section: bytes, entities (counted at each occurrence), and levels of JSON,
  /// without the one around the content.
  static let maxBytes = 256 << 20
  static let maxEntities = 100_000
  static let maxDepth = JSONScanner.maximumDepth - 1

  let entities: EntityTable
  let variants: () throws -> VariantIndex.View
  /// The places of the requested location, to look up nested entities.
  let chain: PlaceChain
  let coverage: Coverage
  let now: Int64
  let allowsExpired: Bool
  /// Whether entities keep their `_storage`.
  var keepsTags = false
  /// Whether a pruned entity is rendered as an object with only its `_storage`; an edit needs it.
  var keepsMissing = false

  var output: [UInt8] = []
  var missing = IDList()
  var expired = IDList()
  /// The number of occurrences of entities in the output.
  private var count = 0
  /// The stack of templates that are being filled, the innermost last.
  private var frames: [Frame] = []
  /// The index in `frames` of each entity that is being filled, by row.
  private var frameIndices: [Int64: Int] = [:]
  /// The finished entities that can be copied, by row.
  private var rendered: [Int64: Rendered] = [:]

  /// A template that is being filled.
  private struct Frame {
    /// The entity whose body it is; nil for a section's content.
    var record: EntityRecord?
    var bytes: [UInt8]
    var placeholders: [Placeholder]
    var nextPlaceholder = 0
    var position = 0
    /// The offset of its start in the output, and the number of entities before it.
    var start: Int
    var countBefore: Int
    /// The maximum number of levels of JSON of the entities in it.
    var innerDepth = 0
    /// The outermost frame whose entity was omitted in this one because it would be nested in itself.
    var cycle = Int.max
  }

  private struct Placeholder {
    enum Target {
      case row(SectionTarget)
      case entity(EntityTarget)
    }

    var offset: Int
    var prefix: Int
    var target: Target
  }

  /// The location of a finished entity in the output.
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

  /// Renders a section.
  ///
  /// - Throws: `.invalid`, with the entity, when the result exceeds a limit
  mutating func render(_ template: Template<SectionTarget>) throws {
    let placeholders = template.placeholders.filter { $0.offset != PlaceholderCoding.nested }
      .map { Placeholder(offset: $0.offset, prefix: $0.prefix, target: .row($0.target)) }
    frames.append(Frame(bytes: template.bytes, placeholders: placeholders, start: 0, countBefore: 0))
    try fillFrames()
    if output.isEmpty { output.append(contentsOf: "null".utf8) }
  }

  /// Renders an entity's content.
  ///
  /// - Returns: false when it must not be visible
  mutating func render(_ record: EntityRecord) throws -> Bool {
    frames.append(Frame(bytes: [], placeholders: [], start: 0, countBefore: 0))
    let isShown = try append(record) != .omitted
    try fillFrames()
    return isShown
  }

  // MARK: Frames

  private enum Appended { case omitted, complete, opened }

  private mutating func fillFrames() throws {
    while let index = frames.indices.last {
      if frames[index].nextPlaceholder < frames[index].placeholders.count {
        try fillPlaceholder(of: index)
      } else {
        try close(index)
      }
    }
  }

  /// Copies the bytes before the next placeholder, and replaces it by its entity. A placeholder without an
  /// entity is removed together with its key and one comma.
  private mutating func fillPlaceholder(of index: Int) throws {
    let placeholder = frames[index].placeholders[frames[index].nextPlaceholder]
    let position = frames[index].position
    // A damaged file may have any values here.
    guard placeholder.offset >= position, placeholder.offset < frames[index].bytes.count,
      placeholder.prefix >= 0, placeholder.prefix <= placeholder.offset - position
    else { throw SatchelError(.damaged, "a section's references do not match its content") }
    output.append(contentsOf: frames[index].bytes[position..<placeholder.offset])
    frames[index].nextPlaceholder += 1
    frames[index].position = placeholder.offset + 1
    guard try append(placeholder.target) == .omitted else { return }
    output.removeLast(min(placeholder.prefix, output.count))
    if placeholder.offset + 1 < frames[index].bytes.count,
      frames[index].bytes[placeholder.offset + 1] == UInt8(ascii: ",")
    {
      frames[index].position += 1
    } else if output.last == UInt8(ascii: ",") {
      output.removeLast()
    }
  }

  private mutating func close(_ index: Int) throws {
    guard let frame = frames.popLast() else { return }
    output.append(contentsOf: frame.bytes[frame.position...])
    let depth = Self.openingBrackets(frame.bytes) + frame.innerDepth
    guard let record = frame.record else {
      if depth > Self.maxDepth { try checkDepth() }
      return
    }
    frameIndices[record.row] = nil
    if keepsTags { try appendTag(of: record) }
    try checkSize(at: record)
    // Which entities were omitted because of a cycle depends on the enclosing frames. An entity without such
    // an omission can be copied wherever it occurs again.
    if frame.cycle == .max {
      rendered[record.row] = Rendered(
        range: frame.start..<output.count, count: count - frame.countBefore, depth: depth)
    }
    note(depth: depth, cycle: frame.cycle < index ? frame.cycle : .max)
  }

  /// Updates the innermost frame with the depth and the cycle of an entity in it.
  private mutating func note(depth: Int, cycle: Int = .max) {
    guard let index = frames.indices.last else { return }
    frames[index].innerDepth = max(frames[index].innerDepth, depth)
    frames[index].cycle = min(frames[index].cycle, cycle)
  }

  // MARK: Entities

  private mutating func append(_ target: Placeholder.Target) throws -> Appended {
    switch target {
    case .row(let target):
      guard coverage.contains(target.scope), let record = try entities.record(target.entity) else {
        return .omitted
      }
      return try append(record)
    case .entity(let target): return try append(target)
    }
  }

  private mutating func append(_ record: EntityRecord) throws -> Appended {
    guard record.size != nil else {
      missing.add(record.entityID)
      guard keepsMissing else { return .omitted }
      return try appendMissing(record)
    }
    if record.isExpired(at: now) {
      expired.add(record.entityID)
      if !allowsExpired { return .omitted }
    }
    if let index = frameIndices[record.row] {
      // Updates from different places can nest two entities in each other.
      missing.add(record.entityID)
      note(depth: 0, cycle: index)
      return .omitted
    }
    if let known = rendered[record.row] {
      count += known.count
      try checkSize(at: record, adding: known.range.count)
      copyOutput(known.range)
      note(depth: known.depth)
      return .complete
    }
    return try appendContent(of: record)
  }

  /// Appends a copy of a range of the output. Appending a slice would copy the whole output.
  private mutating func copyOutput(_ range: Range<Int>) {
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: range.count))
    output.withUnsafeMutableBytes { bytes in
      for index in 0..<range.count { bytes[start + index] = bytes[range.lowerBound + index] }
    }
  }

  private mutating func appendContent(of record: EntityRecord) throws -> Appended {
    let (start, before) = (output.count, count)
    // Most entities have no nested ones: their bytes are copied from the page to the output.
    var nested: (bytes: [UInt8], placeholders: [Template<EntityTarget>.Placeholder])?
    var depth = 0
    let isStored: Bool? = try entities.withContent(of: record.row) { bytes, placeholders in
      if placeholders.isEmpty {
        output.append(contentsOf: bytes)
        depth = Self.openingBrackets(bytes)
      } else {
        nested = (Array(bytes), placeholders)
      }
      return true
    }
    guard isStored == true else {
      missing.add(record.entityID)
      return .omitted
    }
    count += 1
    if let nested {
      // Each entity is at least one level of JSON deeper than the one that holds it.
      guard frames.count <= Self.maxDepth else { throw tooDeep(at: record) }
      try checkSize(at: record)
      let placeholders = nested.placeholders.map {
        Placeholder(offset: $0.offset, prefix: $0.prefix, target: .entity($0.target))
      }
      frameIndices[record.row] = frames.count
      frames.append(
        Frame(
          record: record, bytes: nested.bytes, placeholders: placeholders, start: start, countBefore: before))
      return .opened
    }
    if keepsTags { try appendTag(of: record) }
    try checkSize(at: record)
    note(depth: depth)
    return .complete
  }

  /// Appends an object with only the `_storage` of a pruned entity, so that an edit keeps it as missing.
  private mutating func appendMissing(_ record: EntityRecord) throws -> Appended {
    count += 1
    output.append(contentsOf: "{}".utf8)
    try appendTag(of: record)
    try checkSize(at: record)
    note(depth: 2)
    return .complete
  }

  private mutating func append(_ target: EntityTarget) throws -> Appended {
    guard let place = chain.place(of: target.scope) else { return .omitted }
    let variant = VariantIndex.Variant(entityID: target.entityID, scope: target.scope, place: place)
    guard let row = try variants().find(variant), let record = try entities.record(row),
      record.size != nil || keepsMissing
    else {
      // Of another place's content, only entities that cover the location are reported as missing, as in its
      // plan.
      if coverage.contains(target.scope) { missing.add(target.entityID) }
      return .omitted
    }
    return try append(record)
  }

  private mutating func appendTag(of record: EntityRecord) throws {
    guard output.last == UInt8(ascii: "}") else { return }
    output.removeLast()
    // Bodies keep the white space of the delivery.
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
  /// Runs `body`, and prefixes the message of an `.invalid` error with `name`.
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
      throw tooLarge(
        "\(Self.maxEntities) entities, each counted as often as it occurs", limit: Self.maxEntities,
        at: record)
    }
    guard output.count + bytes <= Self.maxBytes else {
      throw tooLarge("\(Self.maxBytes >> 20) MB", limit: Self.maxBytes, at: record)
    }
  }

  private func tooLarge(_ text: String, limit: Int, at record: EntityRecord) -> SatchelError {
    SatchelError(
      .invalid, "with its nested entities it has more than \(text), at entity \(record.entityID)"
    ).at(id: record.entityID, limit: limit)
  }

  private func tooDeep(at record: EntityRecord) -> SatchelError {
    SatchelError(
      .invalid,
      "with its nested entities it has more than \(JSONScanner.maximumDepth) levels, at entity \(record.entityID)"
    ).at(id: record.entityID, limit: JSONScanner.maximumDepth)
  }

  /// Checks the depth of the whole output, after the sum of its parts exceeded the limit.
  private func checkDepth() throws {
    var (depth, isInString, isEscaped) = (0, false, false)
    for byte in output {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth > Self.maxDepth {
          throw SatchelError(
            .invalid,
            "with its nested entities it has more than \(JSONScanner.maximumDepth) levels"
          ).at(limit: JSONScanner.maximumDepth)
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
    }
  }

  /// Returns the number of opening brackets, including those in strings: an upper bound of the depth, many
  /// times faster to compute than the depth.
  private static func openingBrackets(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    return satchel_opening_brackets(start.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  private static func openingBrackets(_ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { openingBrackets($0) }
  }
}

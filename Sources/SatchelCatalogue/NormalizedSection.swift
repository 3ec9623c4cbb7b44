import SatchelCore
import SatchelJSON

/// A section's content split into its entities and a template with their placeholders. Creating one reads no
/// database.
struct NormalizedSection {
  struct Entity {
    var tag: StorageTag
    var displayName: String
    /// The range of its body in `bodies`.
    var body: Range<Int>
    /// The placeholders of nested entities; offsets are within the body.
    var placeholders: [Template<EntityTarget>.Placeholder]
    /// The narrowest scope of the entity and of those that it is nested in.
    var effectiveScope: Scope
    var isNested: Bool

    var target: EntityTarget { EntityTarget(entityID: tag.entityID, scope: tag.scope) }
  }

  /// An object that could not be stored as an entity, or whose id is not sound.
  struct Problem: Equatable {
    var pointer: String
    var reason: String
  }

  /// The concatenated bodies of all entities.
  var bodies: [UInt8] = []
  /// Nested entities come before those that hold them. An entity that occurs twice is listed once.
  var entities: [Entity] = []
  /// The targets of its placeholders are indices of `entities`.
  var template = Template<Int>()
  /// The number of objects that stay in the section because they are not entities.
  var inlineObjects = 0
  /// The number of objects with a `_storage`: an upper bound of the entities, each counted as often as it
  /// occurs.
  var taggedObjects = 0
  var problems: [Problem] = []

  /// Normalizes the value at `index` of a tape.
  ///
  /// - Parameters:
  ///   - pointer: the value's pointer, for problems
  ///   - scopes: the scopes at which the location has a key; entities of other scopes stay inline
  init(_ tape: JSONTape, at index: Int, pointer: String, scopes: Set<Scope>) {
    var normalizer = SectionNormalizer(tape: tape, scopes: scopes, root: index, pointer: pointer)
    var template = Template<Int>()
    normalizer.emit(index, into: &template, inside: nil)
    self = normalizer.result
    self.template = template
    taggedObjects = normalizer.tags.count
  }

  fileprivate init() {}
}

/// Walks a tape and fills a `NormalizedSection`.
private struct SectionNormalizer {
  let tape: JSONTape
  let scopes: Set<Scope>
  let root: Int
  let pointer: String
  /// The tokens of objects that have a `_storage`, in ascending order, each with the token of that member's
  /// value.
  let tags: [(object: Int, value: Int)]
  var result = NormalizedSection()
  /// The indices of the entities extracted so far.
  var extracted: [EntityTarget: Int] = [:]
  /// The decision for each object with a tag, by token: the index of its entity, or nil for inline. An object
  /// is visited again when its container turns out to be inline; without this table the work would double at
  /// each level.
  var decisions: [Int: Int?] = [:]
  /// The path from the root to the value being written: tokens, and their indices among their siblings.
  var path: [(child: Int, position: Int)] = []

  /// The entity that is being read, and the entities that it is nested in.
  struct Enclosing {
    var targets: [EntityTarget]
    var scope: Scope
  }

  init(tape: JSONTape, scopes: Set<Scope>, root: Int, pointer: String) {
    self.tape = tape
    self.scopes = scopes
    self.root = root
    self.pointer = pointer
    tags = Self.findTags(tape, root: root)
  }

  @_optimize(speed)
  private static func findTags(_ tape: JSONTape, root: Int) -> [(object: Int, value: Int)] {
    var tags: [(object: Int, value: Int)] = []
    var open: [(object: Int, end: Int)] = []
    tape.tokens.withUnsafeBufferPointer { tokens in
      var index = root
      let end = Int(tokens[root].next)
      while index < end {
        while let last = open.last, index >= last.end { open.removeLast() }
        let token = tokens[index]
        if token.isKey {
          // Most keys have another length.
          let isCandidate = token.isEscaped || token.end &- token.start == StorageTag.key.utf8CodeUnitCount
          if isCandidate, let last = open.last, tape.keyEquals(index + 1, StorageTag.key) {
            tags.append((last.object, index + 1))
            index = Int(tokens[index + 1].next)
            continue
          }
        } else if token.kind == .object || token.kind == .array {
          open.append((index, Int(token.next)))
        }
        index += 1
      }
    }
    // The tape has the tags in the order of their keys; the walk needs them in the order of their objects.
    return tags.ordered { $0.object < $1.object }
  }

  /// The index of the first tag whose object is at or after token `index`.
  private func firstTag(from index: Int) -> Int {
    var (low, high) = (0, tags.count)
    while low < high {
      let middle = (low + high) / 2
      if tags[middle].object < index { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func containsTag(_ index: Int) -> Bool {
    let first = firstTag(from: index)
    return first < tags.count && tags[first].object < Int(tape[index].next)
  }

  // MARK: Emitting

  /// Writes the value at `index` into a template, and replaces its entities by placeholders.
  ///
  /// - Parameter enclosing: the entity whose body is being written; nil for the section's template
  mutating func emit(_ index: Int, into template: inout Template<Int>, inside enclosing: Enclosing?) {
    emit(index, key: nil, prefix: 0, into: &template, inside: enclosing, isCounted: false)
  }

  private mutating func emit(
    _ index: Int, key: Int?, prefix: Int, into template: inout Template<Int>, inside enclosing: Enclosing?,
    isCounted: Bool
  ) {
    var isCounted = isCounted
    let token = tape[index]
    if token.kind == .object, enclosing == nil, index != root, !isCounted, !containsTag(index) {
      result.inlineObjects += 1
    }
    guard containsTag(index) else {
      tape.copy(index, to: &template.bytes)
      return
    }
    var own: Int?
    let first = firstTag(from: index)
    if tags[first].object == index {
      own = tags[first].value
      if let entity = extractEntity(index, tag: tags[first].value, key: key, inside: enclosing) {
        template.placeholders.append(.init(offset: template.bytes.count, prefix: prefix, target: entity))
        template.bytes.append(UInt8(ascii: "0"))
        return
      }
      result.inlineObjects += 1
      isCounted = true
    }
    emitMembers(of: index, without: own, into: &template, inside: enclosing, isCounted: isCounted)
  }

  private mutating func emitMembers(
    of index: Int, without tag: Int?, into template: inout Template<Int>, inside enclosing: Enclosing?,
    isCounted: Bool
  ) {
    let isObject = tape[index].kind == .object
    template.bytes.append(UInt8(ascii: isObject ? "{" : "["))
    var isFirst = true
    var position = -1
    for child in tape.children(of: index) {
      position += 1
      if child == tag { continue }
      path.append((child, position))
      defer { path.removeLast() }
      if !isFirst { template.bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      let before = template.bytes.count
      if isObject {
        tape.copy(child - 1, to: &template.bytes)
        template.bytes.append(UInt8(ascii: ":"))
      }
      emit(
        child, key: isObject ? child - 1 : nil, prefix: template.bytes.count - before, into: &template,
        inside: enclosing, isCounted: isCounted)
    }
    template.bytes.append(UInt8(ascii: isObject ? "}" : "]"))
  }

  // MARK: Entities

  /// Extracts the object at `index` as an entity.
  ///
  /// - Returns: its index in the result; nil when it has to stay inline, which is reported as a problem
  private mutating func extractEntity(_ index: Int, tag: Int, key: Int?, inside enclosing: Enclosing?) -> Int?
  {
    if let known = decisions[index] {
      if let known { broaden(known, scope: enclosing?.scope ?? .global, isNested: enclosing != nil) }
      return known
    }
    let entity = decide(index, tag: tag, key: key, inside: enclosing)
    decisions.updateValue(entity, forKey: index)
    return entity
  }

  private mutating func decide(_ index: Int, tag: Int, key: Int?, inside enclosing: Enclosing?) -> Int? {
    let parsed: StorageTag
    do throws(StorageTag.ParseError) {
      parsed = try StorageTag(tape, at: tag)
    } catch {
      report(error.member, error.reason)
      return nil
    }
    let target = EntityTarget(entityID: parsed.entityID, scope: parsed.scope)
    guard scopes.contains(parsed.scope) else {
      report("scope", "the location has no key at scope \(parsed.scope.name)")
      return nil
    }
    if let enclosing, enclosing.targets.contains(target) {
      report("entity_id", "\(parsed.entityID) is nested in itself")
      return nil
    }
    let scope = max(parsed.scope, enclosing?.scope ?? .global)
    let inner = Enclosing(targets: (enclosing?.targets ?? []) + [target], scope: scope)
    var body = Template<Int>()
    if firstTag(from: index + 1) == firstTag(from: Int(tape[index].next)) {
      tape.copy(index, without: tag, to: &body.bytes)
    } else {
      emitMembers(of: index, without: tag, into: &body, inside: inner, isCounted: false)
    }
    let placeholders = body.placeholders.map { placeholder in
      let tag = result.entities[placeholder.target].tag
      return Template<EntityTarget>.Placeholder(
        offset: placeholder.offset, prefix: placeholder.prefix,
        target: EntityTarget(entityID: tag.entityID, scope: tag.scope))
    }
    if let known = extracted[target] {
      return repeated(
        known, body: body.bytes, placeholders: placeholders, scope: scope, isNested: enclosing != nil)
    }
    if EntityID.section(of: parsed.entityID) == nil {
      report("entity_id", "\(parsed.entityID) names no section, so that other sections may have the same id")
    }
    let start = result.bodies.count
    result.bodies.append(contentsOf: body.bytes)
    result.entities.append(
      .init(
        tag: parsed, displayName: displayName(index, key: key) ?? parsed.entityID,
        body: start..<result.bodies.count, placeholders: placeholders, effectiveScope: scope,
        isNested: enclosing != nil))
    extracted[target] = result.entities.count - 1
    return result.entities.count - 1
  }

  /// Handles an entity that occurs again in this section: both occurrences share one entity if their content
  /// is the same.
  private mutating func repeated(
    _ entity: Int, body: [UInt8], placeholders: [Template<EntityTarget>.Placeholder], scope: Scope,
    isNested: Bool
  ) -> Int? {
    let known = result.entities[entity]
    // By bytes, not by value: each occurrence is loaded as it was sent.
    let isSame = result.bodies[known.body].elementsEqual(body) && known.placeholders == placeholders
    guard isSame else {
      report("entity_id", "\(known.tag.entityID) occurs twice in this section, with different content")
      return nil
    }
    broaden(entity, scope: scope, isNested: isNested)
    return entity
  }

  /// Broadens the effective scope of an entity that occurs again: it is visible where either occurrence is
  /// visible.
  private mutating func broaden(_ entity: Int, scope: Scope, isNested: Bool) {
    let scope = max(scope, result.entities[entity].tag.scope)
    result.entities[entity].effectiveScope = min(result.entities[entity].effectiveScope, scope)
    if !isNested { result.entities[entity].isNested = false }
  }

  /// Returns local_name, else title, else name, else the object's key.
  private func displayName(_ index: Int, key: Int?) -> String? {
    for name in ["local_name", "title", "name"] as [StaticString] {
      if let member = tape.member(name, of: index), tape[member].kind == .string,
        tape[member].start < tape[member].end
      {
        return tape.text(member)
      }
    }
    guard let key, tape[key].start < tape[key].end else { return nil }
    return tape.text(key)
  }

  private mutating func report(_ member: String, _ reason: String) {
    var location = pointer
    for (child, position) in path {
      location += "/" + (tape[child - 1].isKey ? JSONPointer.escaped(tape.text(child - 1)) : "\(position)")
    }
    location += "/_storage" + (member.isEmpty ? "" : "/" + member)
    result.problems.append(.init(pointer: location, reason: reason))
  }
}

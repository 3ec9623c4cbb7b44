import SatchelJSON

/// A section's content taken apart: its entities, and the skeleton that they leave. A value made from values;
/// making one touches no disk.
struct Dissection {
  struct Entity {
    var tag: StorageTag
    var displayName: String
    /// Where its body lies in `bodies`.
    var body: Range<Int>
    /// Where other entities belong in it; offsets within the body.
    var holes: [Template<EntityTarget>.Hole]
    /// The narrowest scope of itself and of those that it is nested in.
    var effectiveScope: Scope
    var isNested: Bool
  }

  /// Something that could not be taken as sent.
  struct Problem: Equatable {
    var pointer: String
    var reason: String
  }

  /// Bodies of all entities, one behind the other.
  var bodies: [UInt8] = []
  /// Inner ones before those that hold them. An entity that stands twice is here once.
  var entities: [Entity] = []
  /// Holes lead to indices of `entities`.
  var skeleton = Template<Int>()
  var inlineObjects = 0
  /// Objects with a `_storage`: there are no more entities, each counted as often as it appears.
  var taggedObjects = 0
  var problems: [Problem] = []

  /// Takes the value at `index` of a tape apart.
  ///
  /// - Parameters:
  ///   - pointer: the value's own pointer, for problems
  ///   - scopes: the scopes that the location has a key at; entities of others stay inline
  init(_ tape: JSONTape, at index: Int, pointer: String, scopes: Set<Scope>) {
    var dissector = Dissector(tape: tape, scopes: scopes, root: index, pointer: pointer)
    var skeleton = Template<Int>()
    dissector.emit(index, into: &skeleton, inside: nil)
    self = dissector.result
    self.skeleton = skeleton
    taggedObjects = dissector.tags.count
  }

  fileprivate init() {}
}

/// Walks a tape and fills a dissection.
private struct Dissector {
  let tape: JSONTape
  let scopes: Set<Scope>
  let root: Int
  let pointer: String
  /// The object tokens that have a `_storage`, in order, and that member's value.
  let tags: [(object: Int, value: Int)]
  var result = Dissection()
  /// Entities taken so far.
  var taken: [EntityTarget: Int] = [:]
  /// What became of objects with a tag, by token: an entity, or nil for inline. An object is looked at again
  /// when what holds it turns out to be inline; deciding anew each time would double the work at each level.
  var decided: [Int: Int?] = [:]
  /// The way from the root to the value being written: tokens, and positions among their siblings.
  var path: [(child: Int, position: Int)] = []

  /// The entity that is being read, and those it is nested in.
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

  private static func findTags(_ tape: JSONTape, root: Int) -> [(object: Int, value: Int)] {
    var tags: [(object: Int, value: Int)] = []
    var open: [Int] = []
    var index = root
    let behind = Int(tape[root].next)
    while index < behind {
      while let last = open.last, index >= Int(tape[last].next) { open.removeLast() }
      let token = tape[index]
      if token.isKey, let object = open.last, tape.keyEquals(index + 1, StorageTag.key) {
        tags.append((object, index + 1))
        index = Int(tape[index + 1].next)
        continue
      }
      if !token.isKey, token.kind == .object || token.kind == .array { open.append(index) }
      index += 1
    }
    // Tags come in the order of their keys; a walk asks in the order of their objects.
    return tags.sorted { $0.object < $1.object }
  }

  /// The first tag of an object at or behind `index`.
  private func firstTag(from index: Int) -> Int {
    var (low, high) = (0, tags.count)
    while low < high {
      let middle = (low + high) / 2
      if tags[middle].object < index { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func holdsTag(_ index: Int) -> Bool {
    let first = firstTag(from: index)
    return first < tags.count && tags[first].object < Int(tape[index].next)
  }

  // MARK: Emitting

  /// Writes the value at `index` into a template, its entities replaced by holes.
  ///
  /// - Parameter enclosing: the entity whose body is being written; nil for the section's skeleton.
  mutating func emit(_ index: Int, into template: inout Template<Int>, inside enclosing: Enclosing?) {
    emit(index, key: nil, prefix: 0, into: &template, inside: enclosing, isCounted: false)
  }

  private mutating func emit(
    _ index: Int, key: Int?, prefix: Int, into template: inout Template<Int>, inside enclosing: Enclosing?,
    isCounted: Bool
  ) {
    var isCounted = isCounted
    let token = tape[index]
    if token.kind == .object, enclosing == nil, index != root, !isCounted, !holdsTag(index) {
      result.inlineObjects += 1
    }
    guard holdsTag(index) else {
      tape.copy(index, to: &template.bytes)
      return
    }
    var own: Int?
    let first = firstTag(from: index)
    if tags[first].object == index {
      own = tags[first].value
      if let entity = takeEntity(index, tag: tags[first].value, key: key, inside: enclosing) {
        template.holes.append(.init(offset: template.bytes.count, prefix: prefix, target: entity))
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

  /// Takes the object at `index` as an entity.
  ///
  /// - Returns: its index in the result; nil when it has to stay inline, which is then reported.
  private mutating func takeEntity(_ index: Int, tag: Int, key: Int?, inside enclosing: Enclosing?) -> Int? {
    if let known = decided[index] {
      if let known { widen(known, scope: enclosing?.scope ?? .global, isNested: enclosing != nil) }
      return known
    }
    let entity = decide(index, tag: tag, key: key, inside: enclosing)
    decided.updateValue(entity, forKey: index)
    return entity
  }

  private mutating func decide(_ index: Int, tag: Int, key: Int?, inside enclosing: Enclosing?) -> Int? {
    let stated: StorageTag
    do throws(StorageTag.Flaw) {
      stated = try StorageTag(tape, at: tag)
    } catch {
      report(error.member, error.reason)
      return nil
    }
    let target = EntityTarget(entityID: stated.entityID, scope: stated.scope)
    guard scopes.contains(stated.scope) else {
      report("scope", "the location has no key at scope \(stated.scope.name)")
      return nil
    }
    if let enclosing, enclosing.targets.contains(target) {
      report("entity_id", "\(stated.entityID) is nested in itself")
      return nil
    }
    let scope = max(stated.scope, enclosing?.scope ?? .global)
    let inner = Enclosing(targets: (enclosing?.targets ?? []) + [target], scope: scope)
    var body = Template<Int>()
    if firstTag(from: index + 1) == firstTag(from: Int(tape[index].next)) {
      tape.copy(index, without: tag, to: &body.bytes)
    } else {
      emitMembers(of: index, without: tag, into: &body, inside: inner, isCounted: false)
    }
    let holes = body.holes.map { hole in
      let tag = result.entities[hole.target].tag
      return Template<EntityTarget>.Hole(
        offset: hole.offset, prefix: hole.prefix,
        target: EntityTarget(entityID: tag.entityID, scope: tag.scope))
    }
    if let before = taken[target] {
      return same(before, body: body.bytes, holes: holes, scope: scope, isNested: enclosing != nil)
    }
    let start = result.bodies.count
    result.bodies.append(contentsOf: body.bytes)
    result.entities.append(
      .init(
        tag: stated, displayName: displayName(index, key: key) ?? stated.entityID,
        body: start..<result.bodies.count, holes: holes, effectiveScope: scope, isNested: enclosing != nil))
    taken[target] = result.entities.count - 1
    return result.entities.count - 1
  }

  /// An entity that was taken before in this section: one copy if it says the same.
  private mutating func same(
    _ before: Int, body: [UInt8], holes: [Template<EntityTarget>.Hole], scope: Scope, isNested: Bool
  ) -> Int? {
    let known = result.entities[before]
    let isSame =
      result.bodies[known.body].elementsEqual(body) && known.holes.count == holes.count
      && zip(known.holes, holes).allSatisfy { $0.offset == $1.offset && $0.target == $1.target }
    guard isSame else {
      report("entity_id", "\(known.tag.entityID) stands twice in this section, with different content")
      return nil
    }
    widen(before, scope: scope, isNested: isNested)
    return before
  }

  /// An entity that stands in a second spot is seen by whoever sees either.
  private mutating func widen(_ entity: Int, scope: Scope, isNested: Bool) {
    let scope = max(scope, result.entities[entity].tag.scope)
    result.entities[entity].effectiveScope = min(result.entities[entity].effectiveScope, scope)
    if !isNested { result.entities[entity].isNested = false }
  }

  /// local_name, else title, else name, else its key in the nested form.
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
    var place = pointer
    for (child, position) in path {
      place += "/" + (tape[child - 1].isKey ? JSONPointer.escaped(tape.text(child - 1)) : "\(position)")
    }
    place += "/_storage" + (member.isEmpty ? "" : "/" + member)
    result.problems.append(.init(pointer: place, reason: reason))
  }
}

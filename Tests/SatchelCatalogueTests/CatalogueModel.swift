import Foundation
import Satchel

/// A reference model of a catalogue with plain dictionaries, without regard to cost. It is written from the
/// rules, independently of the library. Of the library it uses only place keys and JSON.
struct CatalogueModel {
  struct Variant: Hashable {
    var id: String
    var scope: Int
    var place: String
  }

  /// Content with references to entities.
  indirect enum Node: Equatable {
    case plain(String)
    case array([Node])
    case object([Member])
    case entity(id: String, scope: Int)

    struct Member: Equatable {
      var key: String
      var node: Node
    }

    /// Whether both have the same value: the order of members does not count.
    func isSame(as other: Node) -> Bool {
      switch (self, other) {
      case (.array(let nodes), .array(let others)):
        return nodes.count == others.count && zip(nodes, others).allSatisfy { $0.isSame(as: $1) }
      case (.object(let members), .object(let others)):
        return members.count == others.count
          && members.allSatisfy { member in
            others.contains { $0.key == member.key && $0.node.isSame(as: member.node) }
          }
      default: return self == other
      }
    }

    var holdsEntity: Bool {
      switch self {
      case .plain: false
      case .array(let nodes): nodes.contains(where: \.holdsEntity)
      case .object(let members): members.contains(where: \.node.holdsEntity)
      case .entity: true
      }
    }
  }

  struct Stored {
    var content: Node?
    var expires: Int64
  }

  struct Section {
    var name: String
    var template: Node
    /// The entities, each with the narrowest scope of itself and of those that it is nested in.
    var entities: [(variant: Variant, scope: Int)]
    var updated: Int64
    /// The position in the order of first delivery.
    var number: Int
  }

  struct Context {
    var keys: [Int: String]
    var order: Int
    var isComplete = false
    var position: (latitude: Double, longitude: Double)?
    var sections: [Section] = []
  }

  struct Answer: Equatable {
    var content: String
    var missing: Set<String>
    var expired: Set<String>
    /// The entities that are being rendered.
    fileprivate var open: Set<Variant> = []

    init(content: String, missing: Set<String>, expired: Set<String>) {
      (self.content, self.missing, self.expired) = (content, missing, expired)
    }
  }

  struct Serving {
    var context: Context
    var scopes: Set<Int>
    var keys: [Int: String]
    var level: Int
    var isExact: Bool
    /// Whether the location sees all that was delivered for the context.
    var seesAll = false
    /// The position of the place among those of its level.
    var rank = 0
  }

  var now: Int64
  var variants: [Variant: Stored] = [:]
  var contexts: [Context] = []
  /// The identities of all places that something was ever delivered for.
  private var known: Set<String> = []
  private var order = 0
  private var sectionCount = 0

  init(now: Int64) { self.now = now }

  static func keys(_ location: Location) -> [Int: String] {
    Dictionary(uniqueKeysWithValues: location.keys.map { ($0.level.rawValue, $0.identity) })
  }

  private func place(_ scope: Int, _ keys: [Int: String]) -> String? { scope == 0 ? "" : keys[scope] }

  // MARK: Deliveries

  struct Counts: Equatable {
    var saved = 0
    var updated = 0
    var reused = 0
  }

  mutating func deliver(
    _ sections: [(name: String, content: JSONValue)], at location: Location, keepsFresh: Bool,
    isComplete: Bool = false
  ) -> [Counts] {
    let keys = Self.keys(location)
    known.formUnion(keys.values)
    order += 1
    let index = contexts.firstIndex { $0.keys == keys } ?? contexts.count
    if index == contexts.count { contexts.append(Context(keys: keys, order: order)) }
    if contexts[index].position == nil, let latitude = location.latitude,
      let longitude = location.longitude
    {
      contexts[index].position = (latitude, longitude)
    }
    let before = contexts[index].sections.count
    if isComplete {
      contexts[index].sections.removeAll { section in !sections.contains { $0.name == section.name } }
    }
    let wasComplete = contexts[index].isComplete && before == contexts[index].sections.count
    contexts[index].isComplete = isComplete
    if isComplete, !wasComplete { contexts[index].order = order }
    var all: [Counts] = []
    for (name, content) in sections {
      var counts = Counts()
      var entities: [(variant: Variant, scope: Int)] = []
      let template = take(content, keys, 0, keepsFresh, &counts, &entities)
      sectionCount += 1
      var section = Section(
        name: name, template: template, entities: entities, updated: now, number: sectionCount)
      if let position = contexts[index].sections.firstIndex(where: { $0.name == name }) {
        let old = contexts[index].sections[position]
        section.number = old.number
        all.append(counts)
        if old.template.isSame(as: section.template) { section.template = old.template }
        func listed(_ section: Section) -> Set<[AnyHashable]> {
          Set(section.entities.map { [$0.variant, $0.scope] })
        }
        let isSame = old.template == section.template && listed(old) == listed(section)
        // A section that is delivered again unchanged is not an update.
        if isSame, counts.saved == 0, counts.updated == 0 { continue }
        contexts[index].sections[position] = section
      } else {
        all.append(counts)
        contexts[index].sections.append(section)
      }
      contexts[index].order = order
    }
    return all
  }

  private mutating func take(
    _ value: JSONValue, _ keys: [Int: String], _ outer: Int, _ keepsFresh: Bool, _ counts: inout Counts,
    _ entities: inout [(variant: Variant, scope: Int)]
  ) -> Node {
    switch value {
    case .array(let elements):
      return .array(elements.map { take($0, keys, outer, keepsFresh, &counts, &entities) })
    case .object(let object):
      var variant: Variant?
      if let tag = object["_storage"], let id = tag["entity_id"]?.stringValue,
        let scope = tag["scope"]?.stringValue.flatMap(Scope.init(name:))?.rawValue
      {
        variant = place(scope, keys).map { Variant(id: id, scope: scope, place: $0) }
      }
      let narrowest = max(outer, variant?.scope ?? 0)
      let members = object.filter { $0.key != "_storage" }.map {
        Node.Member(key: $0.key, node: take($0.value, keys, narrowest, keepsFresh, &counts, &entities))
      }
      guard let variant else { return .object(members) }
      let hours = object["_storage"]?["ttl_hours"]?.doubleValue ?? 168
      var new = Stored(content: .object(members), expires: now + Int64((hours * 3_600_000).rounded()))
      let old = variants[variant]
      if let old, old.content != nil, keepsFresh, old.expires > now {
        counts.reused += 1
      } else {
        if let content = old?.content {
          if content.isSame(as: .object(members)) {
            counts.reused += 1
            new.content = content
          } else {
            counts.updated += 1
          }
        } else {
          counts.saved += 1
        }
        variants[variant] = new
      }
      entities.append((variant, narrowest))
      return .entity(id: variant.id, scope: variant.scope)
    default: return .plain((try? value.text) ?? "?")
    }
  }

  mutating func prune() -> Int {
    var count = 0
    for (variant, stored) in variants where stored.content != nil && stored.expires <= now {
      variants[variant]?.content = nil
      count += 1
    }
    return count
  }

  // MARK: Loading

  /// Returns all contexts that may serve a location, the preferred one first.
  func serving(_ location: Location, inherits: Bool = true, nearby: Double = 5000) -> [Serving] {
    let keys = Self.keys(location)
    let isBare = keys.count == 1 && keys[5] != nil
    var found: [Serving] = []
    if let own = contexts.first(where: { $0.keys == keys }) {
      found.append(
        Serving(
          context: own, scopes: Set(0...5), keys: keys, level: keys.keys.max() ?? 0, isExact: true,
          seesAll: true))
      if own.isComplete { return found }
    }
    for context in latest(where: { keys[5] != nil && $0.keys != keys && $0.keys[5] == keys[5] }) {
      let isElsewhere = keys[1] != nil && context.keys[1] != nil && keys[1] != context.keys[1]
      if isBare || (inherits && nearby > 0 && !isElsewhere) {
        found.append(
          Serving(
            context: context, scopes: Set(0...5), keys: context.keys, level: 5, isExact: isBare, seesAll: true
          ))
        if isBare, context.isComplete { return found }
      } else if inherits {
        let scopes = Set(1...5).filter { keys[$0] != nil && keys[$0] == context.keys[$0] }
        found.append(
          Serving(context: context, scopes: scopes.union([0]), keys: keys, level: 5, isExact: false))
      }
    }
    guard inherits else { return found }
    let places = places(location, nearby: nearby)
    for level in (1...5).reversed() {
      for (rank, place) in (places[level] ?? []).enumerated() where level < 5 || place != keys[5] {
        for context in latest(where: { $0.keys[level] == place }) {
          add(context, level, rank, places, keys, to: &found)
        }
      }
    }
    for context in latest(where: { _ in true }) { add(context, 0, 0, places, keys, to: &found) }
    return found
  }

  private func latest(where isWanted: (Context) -> Bool) -> [Context] {
    contexts.filter(isWanted).sorted { $0.order > $1.order }
  }

  private func add(
    _ context: Context, _ level: Int, _ rank: Int, _ places: [Int: [String]], _ keys: [Int: String],
    to found: inout [Serving]
  ) {
    guard !found.contains(where: { $0.context.keys == context.keys }) else { return }
    var (scopes, shared) = (Set([0]), keys)
    for level in 1...5 {
      guard let candidates = places[level] else { continue }
      if let key = context.keys[level], candidates.contains(key) {
        scopes.insert(level)
        shared[level] = key
      } else if isUnknown(keys[level], at: level) {
        shared[level] = candidates[0]
      }
    }
    found.append(
      Serving(context: context, scopes: scopes, keys: shared, level: level, isExact: false, rank: rank))
  }

  /// Whether nothing was ever delivered for a place.
  private func isUnknown(_ key: String?, at level: Int) -> Bool { !known.contains(key ?? "") }

  /// Returns the places of a location at each level: its own, those of its names without some of the broader ones,
  /// and that of the nearest delivered location.
  private func places(_ location: Location, nearby: Double) -> [Int: [String]] {
    let keys = Self.keys(location)
    var places = keys.filter { known.contains($0.value) }.mapValues { [$0] }
    guard nearby > 0 else { return places }
    func add(_ key: String?, _ level: Int) {
      guard let key, known.contains(key), places[level]?.contains(key) != true else { return }
      places[level, default: []].append(key)
    }
    func without(area: Bool, town: Bool) -> [Int: String] {
      let other = try? Location(
        sublocality: location.sublocality, locality: town ? nil : location.locality,
        adminArea: area ? nil : location.adminArea, countryCode: location.countryCode)
      return other.map(Self.keys) ?? [:]
    }
    add(without(area: true, town: false)[4], 4)
    add(without(area: false, town: true)[4], 4)
    add(without(area: true, town: true)[4], 4)
    add(without(area: true, town: false)[3], 3)
    for level in 1...5 { add(nearest(location, level, within: level > 2 ? nearby : nearby * 10), level) }
    return places
  }

  /// Returns the place at a level of the nearest context that has one, in the country that the location states.
  private func nearest(_ location: Location, _ level: Int, within metres: Double) -> String? {
    guard let latitude = location.latitude, let longitude = location.longitude else { return nil }
    let country = Self.keys(location)[1]
    func distance(_ context: Context) -> Double? {
      guard let position = context.position, context.keys[level] != nil,
        country == nil || context.keys[1] == nil || context.keys[1] == country
      else { return nil }
      let radians = Double.pi / 180
      let cosine =
        sin(latitude * radians) * sin(position.latitude * radians)
        + cos(latitude * radians) * cos(position.latitude * radians)
        * cos((longitude - position.longitude) * radians)
      return acos(max(-1, min(1, cosine))) * 6_371_008.8
    }
    let near = contexts.compactMap { context in distance(context).map { (context: context, distance: $0) } }
      .filter { $0.distance <= metres }
    guard let least = near.map(\.distance).min() else { return nil }
    // Contexts in the same position: the latest one.
    let same = near.filter { $0.distance < least + 0.001 }
    return same.max { $0.context.order < $1.context.order }?.context.keys[level]
  }

  /// Returns the visible sections in order, each with the context that serves it.
  func visible(_ location: Location, inherits: Bool = true) -> [(section: Section, serving: Serving)] {
    var found: [(section: Section, serving: Serving)] = []
    for serving in serving(location, inherits: inherits) {
      for section in serving.context.sections
      where !found.contains(where: { $0.section.name == section.name }) {
        if serving.seesAll || section.entities.contains(where: { serving.scopes.contains($0.scope) }) {
          found.append((section, serving))
        }
      }
    }
    // The contexts at its coordinate come in the order of their updates.
    let own = Self.keys(location)[5]
    func isHere(_ serving: Serving) -> Bool {
      serving.isExact || (own != nil && serving.context.keys[5] == own && serving.level == 5)
    }
    let inherited = found.filter { !isHere($0.serving) }.sorted {
      (-$0.serving.level, $0.serving.rank, $0.section.number)
        < (-$1.serving.level, $1.serving.rank, $1.section.number)
    }
    return found.filter { isHere($0.serving) } + inherited
  }

  func headers(_ location: Location, inherits: Bool = true) -> [String] {
    visible(location, inherits: inherits).map { section, serving in
      let count = section.entities.filter { serving.scopes.contains($0.scope) }.count
      return "\(section.name) \(count) \(section.updated) \(serving.level)"
    }
  }

  func plan(_ location: Location) -> [String] {
    visible(location).map { section, serving in
      let seen = section.entities.filter { serving.scopes.contains($0.scope) }
      let words = seen.map { entity -> String in
        guard let stored = variants[entity.variant], stored.content != nil else {
          return "missing \(entity.variant.id)"
        }
        return (stored.expires <= now ? "expired " : "fresh ") + entity.variant.id
      }
      return "\(section.name): \(Set(words).sorted())"
    }
  }

  func load(_ name: String, _ location: Location, allowExpired: Bool) -> Answer? {
    guard let (section, serving) = visible(location).first(where: { $0.section.name == name }) else {
      return nil
    }
    var answer = Answer(content: "", missing: [], expired: [])
    answer.content = fill(section.template, serving, !serving.seesAll, allowExpired, true, &answer) ?? "null"
    return answer
  }

  /// Returns the text of a node; nil when it must not be visible.
  private func fill(
    _ node: Node, _ serving: Serving, _ containersOnly: Bool, _ allowExpired: Bool, _ isTemplate: Bool,
    _ answer: inout Answer
  ) -> String? {
    switch node {
    case .plain(let text): return text
    case .array(let nodes):
      let shown = nodes.filter { !containersOnly || $0.holdsEntity }
      return "["
        + shown.compactMap { fill($0, serving, containersOnly, allowExpired, isTemplate, &answer) }
        .joined(separator: ",") + "]"
    case .object(let members):
      let parts = members.filter { !containersOnly || $0.node.holdsEntity }.compactMap { member -> String? in
        let text = fill(member.node, serving, containersOnly, allowExpired, isTemplate, &answer)
        let key = (try? JSONValue.string(member.key).text) ?? "?"
        return text.map { "\(key):\($0)" }
      }
      return "{" + parts.joined(separator: ",") + "}"
    case .entity(let id, let scope):
      guard let place = place(scope, serving.keys), !isTemplate || serving.scopes.contains(scope) else {
        return nil
      }
      let variant = Variant(id: id, scope: scope, place: place)
      guard let stored = variants[variant], let content = stored.content else {
        if serving.scopes.contains(scope) { answer.missing.insert(id) }
        return nil
      }
      if stored.expires <= now {
        answer.expired.insert(id)
        if !allowExpired { return nil }
      }
      // Deliveries can nest two entities in each other: the inner one is missing.
      guard answer.open.insert(variant).inserted else {
        answer.missing.insert(id)
        return nil
      }
      defer { answer.open.remove(variant) }
      return fill(content, serving, false, allowExpired, false, &answer)
    }
  }
}

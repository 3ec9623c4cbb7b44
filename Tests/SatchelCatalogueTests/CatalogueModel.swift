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
    var open: Set<Variant> = []

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
  private(set) var known: Set<String> = []
  private var order = 0
  private var sectionCount = 0

  init(now: Int64) { self.now = now }

  static func keys(_ location: Location) -> [Int: String] {
    Dictionary(uniqueKeysWithValues: location.keys.map { ($0.level.rawValue, $0.identity) })
  }

  func place(_ scope: Int, _ keys: [Int: String]) -> String? { scope == 0 ? "" : keys[scope] }

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
}

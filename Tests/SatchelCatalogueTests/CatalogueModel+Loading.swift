import Foundation
import Satchel

/// What a location sees.
extension CatalogueModel {
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

import SatchelJSON
import SatchelStorage
import Testing

import SatchelState

/// A simple model of what state must hold.
struct StateModel: Equatable {
  var values: [String: JSONValue] = [:]
  var lists: [String: [JSONValue]] = [:]
  var members: [String: Set<Int64>] = [:]
  var scores: [String: [String: Double]] = [:]

  static let listLimit = 4

  /// Makes the first of the two lists, sets and scores with a prefix sensitive.
  static func makeSensitive(_ state: StateStore, _ prefix: String) throws {
    for kind in [Change.StateKey.Kind.list, .set, .scores] { try state.setSensitive(kind, "\(prefix)0") }
  }

  /// Applies one random operation to the model and the store; names begin with `prefix`.
  mutating func step(_ state: StateStore, _ prefix: String, _ random: inout some RandomNumberGenerator) throws
  {
    let (name, key) = (
      "\(prefix)\(Int.random(in: 0..<2, using: &random))", "\(Int.random(in: 0..<4, using: &random))"
    )
    let number = Int64.random(in: 0..<6, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2:
      try state.set(prefix + key, .int(number), sensitive: number == 5)
      values[prefix + key] = .int(number)
    case 3:
      try state.remove(prefix + key)
      values[prefix + key] = nil
    case 4, 5:
      let isUnique = number < 3
      try state.list(name, limit: Self.listLimit, isUnique: isUnique).push(.int(number))
      var items = lists[name, default: []]
      if isUnique { items.removeAll { $0 == .int(number) } }
      lists[name] = Array(([.int(number)] + items).prefix(Self.listLimit))
    case 6:
      try state.list(name).remove(.int(number))
      lists[name, default: []].removeAll { $0 == .int(number) }
    case 7:
      guard number == 0 else { break }
      try state.list(name).clear()
      lists[name] = []
    case 8:
      #expect(
        try state.set(named: name).add(.int(number)) == members[name, default: []].insert(number).inserted)
    case 9:
      #expect(
        try state.set(named: name).remove(.int(number)) == (members[name, default: []].remove(number) != nil))
    case 10:
      let delta = Double.random(in: -0.9...0.9, using: &random)
      let score = min(max((scores[name]?[key] ?? 0) + delta, -1), 1)
      scores[name, default: [:]][key] = score
      #expect(try state.scores(name).add(key, delta) == score)
    default:
      guard number == 0 else { break }
      try state.scores(name).remove(key)
      scores[name]?[key] = nil
    }
  }

  /// Reads the model from the store.
  init(_ state: StateStore, _ prefix: String) throws {
    for key in try state.keys(prefix: prefix) { values[key] = try state.get(key) }
    for name in ["\(prefix)0", "\(prefix)1"] {
      lists[name] = try state.list(name).items().map(\.value)
      members[name] = Set(try state.set(named: name).values().compactMap(\.intValue))
      scores[name] = Dictionary(uniqueKeysWithValues: try state.scores(name).all().map { ($0.key, $0.value) })
    }
  }

  init() {}

  /// Without empty containers, which may or may not be listed.
  var tidy: StateModel {
    var tidy = self
    tidy.lists = lists.filter { !$0.value.isEmpty }
    tidy.members = members.filter { !$0.value.isEmpty }
    tidy.scores = scores.filter { !$0.value.isEmpty }
    return tidy
  }
}

import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelState

/// Contents of lists, sets and scores, in the short form of the tables below.
private enum Short {
  static func list(_ text: String, _ bounds: StateBounds = StateBounds()) throws -> SharedState {
    let items = try text.split(separator: " ").map { item in
      let parts = item.split(separator: "@")
      let value = JSONValue.string(String(parts[0]))
      return StateContent.Item(
        value: value, identity: try StateName(identityOf: value), time: Int64(parts[1]) ?? 0)
    }
    return SharedState(content: .list(items), bounds: bounds)
  }

  static func set(_ text: String) throws -> SharedState {
    let members = text.split(separator: " ").map { JSONValue.string(String($0)) }
    return try #require(SharedState(["members": .array(members)], of: .set))
  }

  static func scores(_ text: String, _ bounds: ClosedRange<Double> = -100...100) throws -> SharedState {
    var scores: [StateName: Double] = [:]
    for score in text.split(separator: " ") {
      let parts = score.split(separator: "=")
      scores[try StateName(String(parts[0]), as: "key")] = Double(parts[1])
    }
    return SharedState(content: .scores(scores), bounds: StateBounds(range: bounds))
  }

  static func document(_ shared: SharedState) throws -> String {
    let kind: StateID.Kind =
      switch shared.content {
      case .value: .value
      case .list: .list
      case .set: .set
      case .scores: .scores
      }
    return try shared.document(of: kind).text
  }
}

@Suite("Merging state of two devices")
struct StateMergeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var base: String?
    var local: String
    var remote: String
    var merged: String
    var testDescription: String { "\(base ?? "none"): \(local) and \(remote) is \(merged)" }

    init(_ base: String?, _ local: String, _ remote: String, _ merged: String) {
      (self.base, self.local, self.remote, self.merged) = (base, local, remote, merged)
    }
  }

  /// Expects the result, whichever of the two is local.
  private func check(
    _ row: Case, newer: StateContent.Newer? = nil, _ content: (String) throws -> SharedState
  ) throws {
    let (base, local, remote) = (try row.base.map(content), try content(row.local), try content(row.remote))
    let expected = try Short.document(content(row.merged))
    #expect(
      try Short.document(SharedState.merged(base: base, local: local, remote: remote, newer: newer))
        == expected)
    let other: StateContent.Newer? =
      switch newer {
      case .local: .remote
      case .remote: .local
      default: newer
      }
    #expect(
      try Short.document(SharedState.merged(base: base, local: remote, remote: local, newer: other))
        == expected)
  }

  @Test(
    "items of a list that were added or removed since the base are added or removed",
    arguments: [
      Case(nil, "", "", ""), Case(nil, "a@1", "", "a@1"), Case(nil, "a@1", "b@2", "b@2 a@1"),
      Case(nil, "a@1", "a@1", "a@1"), Case("a@1", "a@1", "b@2 a@1", "b@2 a@1"), Case("a@1", "a@1", "", ""),
      Case("a@1", "b@3 a@1", "c@2 a@1", "b@3 c@2 a@1"), Case("b@2 a@1", "a@1", "c@3 b@2 a@1", "c@3 a@1"),
      Case("b@2 a@1", "a@1", "b@2", ""), Case("a@1", "", "b@2 a@1", "b@2"), Case("a@1", "", "", ""),
      // The same value at another time is another item, and twice at one time two of them.
      Case("a@1", "a@2 a@1", "a@3 a@1", "a@3 a@2 a@1"), Case("a@1 a@1", "a@1", "b@2 a@1 a@1", "b@2 a@1"),
      Case("", "a@1 a@1", "a@1", "a@1 a@1"),
      // Those of one time keep their order; what both devices have added at one place is in the order of the bytes.
      Case("", "b@1", "a@1", "a@1 b@1"), Case("", "b@1 a@1", "", "b@1 a@1"),
      Case("b@1 a@1", "c@1 b@1 a@1", "d@2 b@1 a@1", "d@2 c@1 b@1 a@1"),
      Case("b@1 a@1", "d@1 b@1 a@1", "c@1 b@1 a@1", "c@1 d@1 b@1 a@1"),
      Case("c@1 b@1 a@1", "d@1 b@1 a@1", "c@1 b@1", "d@1 b@1"),
    ])
  func lists(row: Case) throws { try check(row) { try Short.list($0) } }

  @Test(
    "the bounds of a list apply to the pushes of two devices",
    arguments: [
      Case("", "c@5 a@3", "d@6 b@4", "d@6 c@5 b@4"), Case("a@1", "a@4", "b@3 a@1", "a@4 b@3"),
      Case("", "a@9 b@8", "b@9 a@8", "a@9 b@9"), Case("", "a@20", "b@9", "a@20"),
    ])
  func bounded(row: Case) throws {
    try check(row) { try Short.list($0, StateBounds(limit: 3, maxAge: 10, isUnique: true)) }
  }

  @Test(
    "members that were added or removed since the base are added or removed",
    arguments: [
      Case(nil, "a b", "b c", "a b c"), Case("a b", "a b", "b", "b"), Case("a b", "a", "b", ""),
      Case("a", "a b", "a c", "a b c"), Case("a b c", "a b", "b c d", "b d"), Case("a", "", "a b", "b"),
      Case("a", "", "", ""), Case("", "a", "a", "a"),
    ])
  func sets(row: Case) throws { try check(row, Short.set) }

  @Test(
    "the additions of two devices to a score since the base are added",
    arguments: [
      Case("a=1", "a=2", "a=4", "a=5"), Case("a=1", "a=1", "a=4", "a=4"), Case("a=1", "a=2", "a=2", "a=3"),
      Case("", "a=2", "a=2", "a=4"), Case(nil, "a=2", "a=3", "a=5"), Case(nil, "a=2", "a=2", "a=2"),
      Case(nil, "a=2", "a=2 b=1", "a=2 b=1"), Case("a=90", "a=97", "a=98", "a=100"),
      Case("a=-90", "a=-97", "a=-98", "a=-100"), Case("a=3 b=1", "b=1", "a=3 b=2", "b=2"),
      // A score that was removed begins at 0 again.
      Case("a=3", "", "a=5", "a=2"), Case("a=3", "", "", ""), Case("a=3", "b=1", "c=1", "b=1 c=1"),
    ])
  func scores(row: Case) throws { try check(row) { try Short.scores($0) } }

  @Test(
    "the additions of two devices to a new score count from its nearest bound",
    arguments: [Case("", "a=3", "a=2", "a=4"), Case(nil, "a=3", "a=2", "a=4"), Case("a=5", "", "a=6", "a=2")])
  func scoresAboveZero(row: Case) throws { try check(row) { try Short.scores($0, 1...10) } }

  @Test(
    "scores whose base was lost are not added twice: the newer ones are kept",
    arguments: [
      Case(nil, "a=2 b=1", "a=7 c=1", "a=2 b=1 c=1"), Case(nil, "a=9", "a=7", "a=9"),
    ])
  func forked(row: Case) throws {
    try check(row, newer: .local) { try Short.scores($0) }
  }

  @Test("of two scores without a base and with the same time, the greater one is kept")
  func simultaneous() throws {
    try check(Case(nil, "a=2 b=5", "a=7 b=4", "a=7 b=5"), newer: .neither) { try Short.scores($0) }
  }

  @Test("bounds that one device changed are kept, and those that both changed are widened")
  func bounds() throws {
    let (narrow, wide) = (StateBounds(range: 0...1), StateBounds(range: -1...1))
    #expect(StateBounds.merged(base: narrow, local: narrow, remote: wide) == wide)
    #expect(StateBounds.merged(base: wide, local: narrow, remote: wide) == narrow)
    #expect(
      StateBounds.merged(base: nil, local: narrow, remote: StateBounds(range: -5...0))
        == StateBounds(range: -5...1))
    #expect(StateBounds.merged(base: nil, local: nil, remote: wide) == wide)
    let lists = [
      StateBounds(limit: 3, maxAge: nil, isUnique: false), StateBounds(limit: 5, maxAge: 10, isUnique: true),
    ]
    let widened = StateBounds(limit: 5, maxAge: nil, isUnique: true)
    #expect(StateBounds.merged(base: nil, local: lists[0], remote: lists[1]) == widened)
    #expect(StateBounds.merged(base: nil, local: lists[1], remote: lists[0]) == widened)
  }

  @Test("an infinite sum is at its bound")
  func infinite() throws {
    let large = Double.greatestFiniteMagnitude
    let merged = SharedState.merged(
      base: try Short.scores("a=\(-large)"), local: try Short.scores("a=\(large)"),
      remote: try Short.scores("a=1"))
    #expect(merged.content.scores.map(\.value) == [100])
  }

  typealias Timed = (value: SharedState, time: Int64)

  static let values: [(Timed, Timed)] = [
    (value(1, 2), value(2, 1)), (value(2, 1), value(1, 1)), (value(1, 1), value(nil, 1)),
    (value(nil, 2), value(1, 1)), (value(1, 1, isSensitive: true), value(1, 1)),
  ]

  private static func value(_ value: JSONValue?, _ time: Int64, isSensitive: Bool = false) -> Timed {
    (SharedState(content: .value(value), isSensitive: isSensitive), time)
  }

  @Test(
    "of two values the newer one wins, and at the same time the one with the greater bytes", arguments: values
  )
  func valuesByTime(winner: Timed, loser: Timed) {
    #expect(winner.value.wins(at: winner.time, over: loser.value, at: loser.time))
    #expect(!loser.value.wins(at: loser.time, over: winner.value, at: winner.time))
  }

  // MARK: Any contents

  private func symmetric(_ seed: UInt64, _ content: (inout SeededRandom) throws -> SharedState) throws {
    var random = SeededRandom(seed: seed)
    let base: SharedState? = random.chance(70) ? try content(&random) : nil
    let sides = try (0..<2).map { _ in
      if let base, random.chance(20) { return base }
      return try content(&random)
    }
    let newer: StateContent.Newer? = base == nil && random.chance(30) ? .local : nil
    let merged = SharedState.merged(base: base, local: sides[0], remote: sides[1], newer: newer)
    let other = SharedState.merged(
      base: base, local: sides[1], remote: sides[0], newer: newer == nil ? nil : .remote)
    #expect(try Short.document(merged) == (try Short.document(other)), "seed \(seed)")
    // The device that has sent the result, and one that applies it, have nothing left to send.
    let again = SharedState.merged(base: merged, local: merged, remote: merged)
    #expect(again.isSame(as: merged))
  }

  @Test("whichever device decides, the bytes are the same", arguments: 0..<40)
  func anyContents(block: Int) throws {
    for seed in UInt64(block) * 50..<UInt64(block) * 50 + 50 {
      try symmetric(seed) { random in
        var items: [String] = []
        var time = 20
        for _ in 0..<random.below(6) {
          time -= random.below(4)
          items.append("\(random.pick(["a", "b", "c"]))@\(time)")
        }
        let bounds = StateBounds(
          limit: random.chance(50) ? 1 + random.below(5) : nil,
          maxAge: random.chance(50) ? Int64(1 + random.below(9)) : nil, isUnique: random.chance(50))
        return try Short.list(items.joined(separator: " "), bounds)
      }
      try symmetric(seed) { random in
        try Short.set(["a", "b", "c", "d"].filter { _ in random.chance(50) }.joined(separator: " "))
      }
      try symmetric(seed) { random in
        let scores = ["a", "b", "c"].filter { _ in random.chance(70) }.map {
          "\($0)=\(random.pick([0.1, 0.25, 1 / 3, -0.7, 1e16, -1e308]))"
        }
        return try Short.scores(scores.joined(separator: " "), -1...Double(1 + random.below(3)))
      }
    }
  }
}

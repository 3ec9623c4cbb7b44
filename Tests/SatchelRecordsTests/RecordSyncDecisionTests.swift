import SatchelJSON
import SatchelRemote
import Testing

@testable import SatchelRecords

/// What is decided about one record, side by side.
struct RecordSyncDecisionTests {
  /// A side, as it differs from what was agreed.
  enum Side: CaseIterable { case absent, same, edited, deleted }

  private static func content(_ document: String?, _ modified: Int64) -> RecordContent {
    RecordContent(document: document.map { Array($0.utf8) }, revision: 1, created: 1, modified: modified)
  }

  private static func version(_ document: String?, _ modified: Int64) throws -> RecordVersion {
    try RecordVersion(content(document, modified))
  }

  private static let agreed = #"{"a":1,"b":1}"#
  private static let ours = #"{"a":2,"b":1}"#
  private static let theirs = #"{"a":1,"b":2}"#

  /// The local edit is the older one.
  private func decide(
    _ local: Side, _ remote: Side, hasBase: Bool, _ onConflict: ConflictPolicy
  ) throws -> RecordDecision {
    let base = hasBase ? try Self.version(Self.agreed, 1) : nil
    let here: RecordVersion? =
      switch local {
      case .absent: nil
      case .same: try Self.version(Self.agreed, 1)
      case .edited: try Self.version(Self.ours, 2)
      case .deleted: try Self.version(nil, 2)
      }
    let there: RecordRemoteSide =
      switch remote {
      case .absent: .absent
      // Without a base it is only somebody else's.
      case .same: hasBase ? .same : .other(try Self.version(Self.agreed, 1))
      case .edited: .other(try Self.version(Self.theirs, 3))
      case .deleted: .other(try Self.version(nil, 3))
      }
    let isChanged = local == .edited || local == .deleted || (local == .same && !hasBase)
    return RecordDecision.decide(
      local: here, isChanged: isChanged, base: base, remote: there, onConflict: onConflict)
  }

  @Test("where only one side has changed, every onConflict does the same", arguments: ConflictPolicy.allCases)
  func whereOnlyOne(_ onConflict: ConflictPolicy) throws {
    let take = RecordDecision.take(isLost: false)
    let table: [(Side, Side, RecordDecision)] = [
      (.absent, .absent, .renew), (.absent, .same, .nothing), (.absent, .edited, take),
      (.absent, .deleted, take),
      (.same, .absent, .renew), (.same, .same, .nothing), (.same, .edited, take), (.same, .deleted, take),
      (.edited, .absent, .send), (.edited, .same, .send),
      (.deleted, .absent, .send), (.deleted, .same, .send), (.deleted, .deleted, .agree),
    ]
    for (local, remote, expected) in table {
      #expect(
        try decide(local, remote, hasBase: true, onConflict) == expected, "\(local) here, \(remote) there")
    }
    let alone: [(Side, Side, RecordDecision)] = [
      (.absent, .absent, .nothing), (.absent, .same, take), (.absent, .edited, take),
      (.absent, .deleted, take),
      (.same, .absent, .send), (.same, .same, .agree), (.edited, .absent, .send),
      (.deleted, .absent, .send), (.deleted, .deleted, .agree),
    ]
    for (local, remote, expected) in alone {
      #expect(
        try decide(local, remote, hasBase: false, onConflict) == expected, "\(local) here, \(remote) there")
    }
  }

  /// The remote edits and deletions are newer.
  @Test("where both sides have changed, the onConflict says", arguments: [true, false])
  func whereBothSides(_ hasBase: Bool) throws {
    let lost = RecordDecision.take(isLost: true)
    let merged = RecordDecision.merge(
      Self.content(hasBase ? #"{"a":2,"b":2}"# : Self.theirs, 3), isLost: !hasBase)
    let table: [(Side, Side, ConflictPolicy, RecordDecision)] = [
      (.edited, .edited, .newestWins, lost), (.edited, .edited, .remoteWins, lost),
      (.edited, .edited, .localWins, .send), (.edited, .edited, .ask, .ask),
      // Without a base both have changed all fields, so that the newer one is all that there is.
      (.edited, .edited, .merge, hasBase ? merged : lost),
      (.edited, .deleted, .newestWins, lost), (.edited, .deleted, .remoteWins, lost),
      (.edited, .deleted, .localWins, .send), (.edited, .deleted, .merge, .send),
      (.edited, .deleted, .ask, .ask),
      (.deleted, .edited, .newestWins, lost), (.deleted, .edited, .remoteWins, lost),
      (.deleted, .edited, .localWins, .send), (.deleted, .edited, .merge, lost),
      (.deleted, .edited, .ask, .ask),
    ]
    for (local, remote, onConflict, expected) in table {
      #expect(
        try decide(local, remote, hasBase: hasBase, onConflict) == expected,
        "\(local) here, \(remote) there, \(onConflict)")
    }
  }

  @Test("what is older than what was agreed is replaced by it again") func whatOlderThan() throws {
    let base = try Self.version(Self.agreed, 2)
    func decide(isChanged: Bool) -> RecordDecision {
      RecordDecision.decide(
        local: base, isChanged: isChanged, base: base, remote: .older, onConflict: .remoteWins)
    }
    #expect(decide(isChanged: false) == .renew)
    #expect(decide(isChanged: true) == .send)
  }

  @Test("an edit that was taken back is no edit", arguments: ConflictPolicy.allCases)
  func editTakenBack(_ onConflict: ConflictPolicy) throws {
    let base = try Self.version(Self.agreed, 1)
    let back = try Self.version(Self.agreed, 9)
    let other = try Self.version(Self.theirs, 2)
    func decide(_ local: RecordVersion, _ remote: RecordRemoteSide) -> RecordDecision {
      RecordDecision.decide(local: local, isChanged: true, base: base, remote: remote, onConflict: onConflict)
    }
    #expect(decide(back, .same) == .agree)
    #expect(decide(back, .other(other)) == .take(isLost: false))
    #expect(decide(other, .other(back)) == .send)
  }

  @Test("another spelling is sent, and no conflict") func anotherSpellingSent() throws {
    let base = try Self.version(#"{"a":1,"b":1}"#, 1)
    let spelled = try Self.version(#"{ "b": 1, "a": 1 }"#, 2)
    let edited = try Self.version(#"{"a":2,"b":1}"#, 2)
    let otherwise = try Self.version(#"{"b":1,"a":2}"#, 3)
    func decide(_ local: RecordVersion, _ remote: RecordRemoteSide) -> RecordDecision {
      RecordDecision.decide(
        local: local, isChanged: true, base: base, remote: remote, onConflict: .remoteWins)
    }
    #expect(decide(spelled, .same) == .send)
    #expect(decide(edited, .other(otherwise)) == .take(isLost: false))
  }

  // MARK: Whoever comes first

  /// What both devices have after one has sent its version, and the other one has decided.
  private func outcome(
    _ mine: RecordVersion, _ theirs: RecordVersion, _ base: RecordVersion?, _ onConflict: ConflictPolicy
  ) throws -> JSONObject? {
    let decision = RecordDecision.decide(
      local: mine, isChanged: true, base: base, remote: .other(theirs), onConflict: onConflict)
    switch decision {
    case .agree, .take: return theirs.value
    case .send: return mine.value
    case .merge(let content, _): return try RecordVersion(content).value
    case .nothing, .renew, .ask:
      Issue.record("\(decision)")
      return nil
    }
  }

  private func document(_ random: inout some RandomNumberGenerator, depth: Int = 0) -> JSONObject {
    var object = JSONObject()
    for key in ["a", "b", "c"] where Bool.random(using: &random) {
      switch Int.random(in: 0..<(depth < 2 ? 6 : 4), using: &random) {
      case 0: object[key] = .null
      case 1, 2: object[key] = .int(Int64.random(in: 0...2, using: &random))
      case 3: object[key] = .array([.int(Int64.random(in: 0...1, using: &random))])
      default: object[key] = .object(document(&random, depth: depth + 1))
      }
    }
    return object
  }

  private func version(_ random: inout some RandomNumberGenerator) throws -> RecordVersion {
    let isDeleted = Int.random(in: 0..<6, using: &random) == 0
    let text = isDeleted ? nil : try JSONValue.object(document(&random)).text
    return try Self.version(text, Int64.random(in: 1...3, using: &random))
  }

  @Test("the outcome does not depend on who comes first", arguments: [ConflictPolicy.newestWins, .merge])
  func outcomeDoesNot(_ onConflict: ConflictPolicy) throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      let base = Bool.random(using: &random) ? try version(&random) : nil
      let (one, other) = (try version(&random), try version(&random))
      let first = try outcome(one, other, base, onConflict)
      let second = try outcome(other, one, base, onConflict)
      #expect(first == second, "\(one) and \(other) on \(String(describing: base))")
    }
  }

  @Test("merging keeps what only one side has changed") func mergingKeepsWhat() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      let (base, one) = (document(&random), document(&random))
      #expect(RecordMerge(base: base, older: base, newer: one).value == one)
      #expect(RecordMerge(base: base, older: one, newer: base).value == one)
      #expect(RecordMerge(base: base, older: one, newer: one).value == one)
      #expect(!RecordMerge(base: base, older: base, newer: one).isOverridden)
      let other = document(&random)
      let merge = RecordMerge(base: base, older: one, newer: other)
      for key in ["a", "b", "c"] {
        if one[key] == base[key] { #expect(merge.value[key] == other[key]) }
        if other[key] == base[key] { #expect(merge.value[key] == one[key]) }
      }
      if !merge.isOverridden {
        #expect(RecordMerge(base: base, older: other, newer: one).value == merge.value)
      }
    }
  }

  @Test("objects are merged deeply, arrays as a whole") func objectsMergedDeeply() throws {
    func object(_ text: String) throws -> JSONObject {
      try #require(try JSONValue(parsing: text).objectValue)
    }
    let merge = RecordMerge(
      base: try object(#"{"o":{"x":1,"y":1,"z":1},"l":[1,2],"k":1,"gone":1}"#),
      older: try object(#"{"o":{"x":2,"y":1,"z":1},"l":[1,2,3],"k":2,"gone":1}"#),
      newer: try object(#"{"o":{"x":1,"y":2},"l":[0],"k":1}"#))
    #expect(merge.value == (try object(#"{"o":{"x":2,"y":2},"l":[0],"k":2}"#)))
    #expect(merge.isOverridden)
  }
}
